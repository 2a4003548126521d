// Every surface shows what is true of a real Application, in both themes, to everybody.
import {expect, sample, test, type Argo, type Theme} from './argo';

/** Each surface is in the sample in one theme. */
const only = (theme: Theme, wanted: Theme) => (theme === wanted ? sample : {});

for (const theme of ['light', 'dark'] as const) {
  test.describe(`in the ${theme} theme`, () => {
    test('the view says what drifts, why, and what a sync would overwrite', only(theme, 'light'), async ({argo}) => {
      await argo.view('checkout', {theme});
      await expect(argo.page.getByRole('heading', {level: 2})).toContainText('differences in 5 resources');
      for (const text of ['checkout-settings', 'checkout-region', 'checkout-legacy', 'payment-keys', '45s', 'kubectl-edit', 'Terraform']) {
        await expect(argo.ours.getByText(text).first()).toBeVisible();
      }
      await argo.accessible();
    });

    test('a finding opens to its fields, its evidence and its fixes', only(theme, 'dark'), async ({argo}) => {
      await argo.view('checkout', {theme});
      await argo.ours.getByRole('button', {name: /checkout-settings/, expanded: false}).first().click();
      await expect(argo.ours.getByRole('cell', {name: '45s'})).toBeVisible();
      await expect(argo.ours.getByRole('cell', {name: '20s'})).toBeVisible();
      await argo.accessible();
    });

    test('the editor shows what a rule would hide', only(theme, 'light'), async ({argo}) => {
      await argo.view('search', {theme});
      await argo.ours.getByRole('button', {name: /Deployment.* search/, expanded: false}).first().click();
      await argo.ours.getByRole('button', {name: 'Try an ignore rule for these fields'}).click();
      await expect(argo.ours.getByText(/would be Synced/i).first()).toBeVisible();
      await argo.accessible();
    });

    test('the tab says who wrote which field, also when all is Synced', only(theme, 'dark'), async ({argo}) => {
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

    test('the chip in the status panel counts, and its fly-out says why', only(theme, 'light'), async ({argo}) => {
      await argo.open('applications/argocd/checkout', {theme});
      await argo.page.locator('.moorpin-chip').getByText('5 findings').click();
      await expect(argo.page.getByRole('heading', {name: 'Drift of argocd/checkout'})).toBeVisible();
      await expect(argo.page.locator('.moorpin-flyout').getByText('hpa-replicas', {exact: false}).or(argo.page.locator('.moorpin-flyout').getByText(/autoscaler/i)).first()).toBeVisible();
      await argo.accessible();
    });

    test('the system page groups all Applications that the user sees', only(theme, 'dark'), async ({argo}) => {
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

test('the system page reads Applications of every project', async ({argo}) => {
  await argo.open('applications', {user: 'tess'});
  await argo.page.getByRole('button', {name: 'Drift'}).click();
  await expect(argo.ours).toContainText('8 Applications');
  await expect(argo.ours.getByRole('progressbar')).toHaveCount(0, {timeout: 45_000});
  await expect(argo.ours).not.toContainText('could not be had');
  await argo.ours.getByRole('button', {name: /Changed by hand/}).click();
  for (const name of ['argocd/checkout', 'argocd/fields', 'argocd/resources']) {
    await expect(argo.ours.getByRole('link', {name})).toBeVisible();
  }
});

test('the loss leads to its finding, which gets the focus', async ({argo}) => {
  await argo.view('checkout');
  await argo.ours.getByRole('region', {name: 'What a sync would take away'}).getByRole('button', {name: /checkout-settings/}).click();
  const finding = argo.ours.getByRole('button', {name: /checkout-settings/, expanded: true});
  await expect(finding).toBeFocused();
  await expect(finding).toBeInViewport();
});

test('both feeds give the same verdict', sample, async ({argo}) => {
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

const narrow: {[surface: string]: {of: string; open: (argo: Argo) => Promise<void>}} = {
  view: {
    of: '.moorpin-view',
    open: async (argo) => {
      await argo.view('checkout', {query: '&moorpin=editor:1'});
      await argo.ours.getByRole('button', {name: /checkout-settings/, expanded: false}).first().click();
    },
  },
  tab: {of: '.moorpin-tab', open: (argo) => argo.tab('checkout', '/ConfigMap/checkout/checkout-settings')},
  'fly-out': {of: '.moorpin-flyout', open: (argo) => argo.open('applications/argocd/checkout?extension=moorpin')},
  'system page': {
    of: '.moorpin-page',
    open: async (argo) => {
      await argo.open('moorpin');
      await argo.ours.getByRole('button', {name: /Changed by hand/}).click();
    },
  },
};

for (const [surface, {of, open}] of Object.entries(narrow)) {
  test(`a narrow window hides nothing: ${surface}`, async ({argo}) => {
    await argo.page.setViewportSize({width: 390, height: 800});
    await open(argo);
    const root = argo.page.locator(of);
    await expect(root.getByText('checkout-settings').or(root.getByText('argocd/checkout')).first()).toBeVisible();
    expect(await root.evaluate((element) => element.scrollWidth - element.clientWidth), 'pixels that stick out').toBeLessThanOrEqual(1);
    const cut = await root.evaluate((element) =>
      Array.from(element.querySelectorAll<HTMLElement>('*'))
        .filter((part) => getComputedStyle(part).overflowX === 'hidden' && part.scrollWidth > part.clientWidth + 1)
        // Lines of the lists are cut on purpose: the chosen one is shown in full.
        .filter((part) => part.closest('.moorpin-hidden, [role=listbox]') === null)
        .map((part) => part.outerHTML.slice(0, 120)),
    );
    expect(cut, 'what is cut off').toEqual([]);
    await argo.accessible();
  });
}
