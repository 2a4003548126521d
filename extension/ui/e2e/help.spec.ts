// When there is no report, the page says why, in one sentence, and what to do.
import {expect, sample, test, type Fault} from './argo';

const faults: {[fault in Exclude<Fault, 'collecting' | 'slow' | 'stuck'>]: {reason: string; says: RegExp; line?: string}} = {
  absent: {reason: 'argocd-server knows no extension of the name: 404', says: /not switched on/, line: 'extension.config.moorpin'},
  off: {reason: 'extensions are off: argocd-server answers with its page', says: /not switched on/, line: 'server.enable.proxy.extension: "true"'},
  down: {reason: 'the backend cannot be reached: 502', says: /does not answer/, line: 'kubectl'},
  busy: {reason: 'the backend is asked too often: 429', says: /busy/},
  crash: {reason: 'the backend has a fault of its own: 500', says: /could not answer|refused/},
  skew: {reason: 'the backend is of another release', says: /version/},
  garbage: {reason: 'something in between answers', says: /version|read/},
};

for (const [fault, {reason, says, line}] of Object.entries(faults)) {
  test(`${fault}: ${reason}`, fault === 'down' ? sample : {}, async ({argo}) => {
    await argo.view('checkout', {fault: fault as Fault});
    await expect(argo.page.locator('.moorpin-view').getByText(says).first()).toBeVisible();
    if (line !== undefined) {
      await expect(argo.page.locator('.moorpin-view').getByText(line).first()).toBeVisible();
    }
    await argo.accessible();
  });
}

for (const theme of ['light', 'dark'] as const) {
  test(`without the right, the page prints the line of the policy, in the ${theme} theme`, theme === 'dark' ? sample : {}, async ({argo}) => {
    await argo.view('checkout', {user: 'ben', theme});
    await expect(argo.page.locator('.moorpin-view').getByText('extensions, invoke, moorpin, allow')).toBeVisible();
    await argo.accessible();
  });
}

test('a session that ends is named, and what was shown stays', async ({argo}) => {
  await argo.view('checkout');
  await expect(argo.page.getByRole('heading', {level: 2})).toContainText('differences in');
  argo.failing = true;
  await argo.page.context().clearCookies({name: 'argocd.token'});
  await argo.page.locator('.moorpin-view').getByRole('button', {name: 'Refresh'}).click();
  await expect(argo.page.locator('.moorpin-view').getByText('Your session has ended.')).toBeVisible();
  await expect(argo.page.getByRole('heading', {level: 2})).toContainText('differences in');
});

test('a slow answer is waited for without a jump', async ({argo}) => {
  await argo.page.addInitScript(() => {
    const jumps: number[] = [];
    Object.assign(window, {jumps});
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        jumps.push((entry as PerformanceEntry & {value: number}).value);
      }
    }).observe({type: 'layout-shift', buffered: true});
  });
  await argo.view('checkout', {fault: 'slow'});
  await expect(argo.page.locator('.moorpin-view').getByRole('status').first()).toBeVisible();
  await argo.accessible();
  await expect(argo.page.getByRole('heading', {level: 2})).toContainText('differences in', {timeout: 30_000});
  const moved = await argo.page.evaluate(() => (window as unknown as {jumps: number[]}).jumps.reduce((sum, value) => sum + value, 0));
  expect(moved, 'layout shift').toBeLessThan(0.1);
});

test('a backend that never answers is given up', async ({argo}) => {
  test.setTimeout(90_000);
  await argo.view('checkout', {fault: 'stuck'});
  await expect(argo.page.locator('.moorpin-view').getByText(/too long|does not answer/).first()).toBeVisible({timeout: 60_000});
});

test('after a fault, trying again helps', async ({argo}) => {
  await argo.view('checkout', {fault: 'down'});
  await expect(argo.page.locator('.moorpin-view').getByText(/does not answer/).first()).toBeVisible();
  await argo.page.context().clearCookies({name: 'moorpin-host-fault'});
  await argo.page.locator('.moorpin-view').getByRole('button', {name: /again/i}).click();
  await expect(argo.page.getByRole('heading', {level: 2})).toContainText('differences in');
});
