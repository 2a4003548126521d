// Every surface shows what is true of a real Application, in both themes, to everybody.
import {expect, test} from './argo';

for (const theme of ['light', 'dark'] as const) {
  test.describe(`in the ${theme} theme`, () => {
    test('the view says what drifts, why, and what a sync would overwrite', async ({argo}) => {
      await argo.view('checkout', {theme});
      await expect(argo.page.getByRole('heading', {level: 2})).toContainText('differences in 5 resources');
      for (const text of ['checkout-settings', 'checkout-region', 'checkout-legacy', 'payment-keys', '45s', 'kubectl-edit', 'Terraform']) {
        await expect(argo.ours.getByText(text).first()).toBeVisible();
      }
      await argo.accessible();
    });

    test('a finding opens to its fields, its evidence and its fixes', async ({argo}) => {
      await argo.view('checkout', {theme});
      await argo.ours.getByRole('button', {name: /checkout-settings/, expanded: false}).first().click();
      await expect(argo.ours.getByRole('cell', {name: '45s'})).toBeVisible();
      await expect(argo.ours.getByRole('cell', {name: '20s'})).toBeVisible();
      await argo.accessible();
    });

    test('the editor shows what a rule would hide', async ({argo}) => {
      await argo.view('search', {theme});
      await argo.ours.getByRole('button', {name: /Deployment.* search/, expanded: false}).first().click();
      await argo.ours.getByRole('button', {name: 'Try an ignore rule for these fields'}).click();
      await expect(argo.ours.getByText(/would be Synced/i).first()).toBeVisible();
      await argo.accessible();
    });

    test('the tab says who wrote which field, also when all is Synced', async ({argo}) => {
      await argo.tab('ledger', 'apps/Deployment/ledger/ledger', {theme});
      const list = argo.ours.getByRole('listbox', {name: 'Fields and who wrote them'});
      await expect(list.getByText('LOG_LEVEL')).toBeVisible();
      await expect(list.getByText('argocd-controller').first()).toBeVisible();
      await argo.accessible();
    });

    test('the tab says why its resource drifts', async ({argo}) => {
      await argo.tab('checkout', '/ConfigMap/checkout/checkout-settings', {theme});
      await expect(argo.ours.getByText('kubectl-edit').first()).toBeVisible();
      await argo.accessible();
    });

    test('the chip in the status panel counts, and its fly-out says why', async ({argo}) => {
      await argo.open('applications/argocd/checkout', {theme});
      await argo.page.locator('.moorpin-chip').getByText('5 findings').click();
      await expect(argo.page.getByRole('heading', {name: 'Why argocd/checkout drifts'})).toBeVisible();
      await expect(argo.page.locator('.moorpin-flyout').getByText('hpa-replicas', {exact: false}).or(argo.page.locator('.moorpin-flyout').getByText(/autoscaler/i)).first()).toBeVisible();
      await argo.accessible();
    });

    test('the system page groups all Applications that the user sees', async ({argo}) => {
      await argo.open('applications', {theme});
      await argo.page.getByRole('button', {name: 'Drift'}).click();
      await expect(argo.ours).toContainText('5 Applications');
      await expect(argo.ours.getByRole('list', {name: 'Why Applications drift'})).toBeVisible();
      await expect(argo.ours.getByRole('progressbar')).toHaveCount(0);
      await expect(argo.ours).not.toContainText('hostile');
      await argo.accessible();
    });
  });
}

test('the address holds what is open, and the browser goes back', async ({argo}) => {
  await argo.view('checkout');
  await argo.ours.getByRole('button', {name: /checkout-settings/, expanded: false}).first().click();
  const address = argo.page.url();
  expect(address).toContain('moorpin');
  await argo.page.goto(`${argo.root}applications`);
  await argo.page.goto(address);
  await expect(argo.ours.getByRole('button', {name: /checkout-settings/, expanded: true}).first()).toBeVisible();
});

test('both feeds give the same verdict', async ({argo}) => {
  await argo.view('checkout');
  const verdict = await argo.page.getByRole('heading', {level: 2}).innerText();
  await expect(argo.ours.getByText('read with your rights')).toBeVisible();
  await argo.view('checkout', {fault: 'collecting'});
  await expect(argo.ours.getByText('read by the backend')).toBeVisible();
  expect(await argo.page.getByRole('heading', {level: 2}).innerText()).toBe(verdict);
});

test('an Application without drift says so kindly', async ({argo}) => {
  await argo.view('ledger');
  await expect(argo.ours.getByText('Nothing drifts.')).toBeVisible();
  await argo.accessible();
});

test('the extensions of others still work', async ({argo}) => {
  await argo.open('applications/argocd/ledger?node=apps%2FDeployment%2Fledger%2Fledger%2F0');
  await argo.page.locator('.tabs__nav').getByText('Another').click();
  await expect(argo.page.getByText('another extension')).toBeVisible();
  expect(await argo.page.evaluate(() => 'neighbourAfter' in window)).toBe(true);
});

test('a narrow window hides nothing', async ({argo}) => {
  await argo.page.setViewportSize({width: 390, height: 800});
  await argo.view('checkout');
  await expect(argo.page.getByRole('heading', {level: 2})).toBeVisible();
  const overflow = await argo.page.evaluate(() => {
    const root = document.querySelector('.moorpin-view') as HTMLElement;
    return root.scrollWidth - root.clientWidth;
  });
  expect(overflow, 'pixels that stick out').toBeLessThanOrEqual(1);
  await argo.accessible();
});
