// Pictures of every surface, light and dark, over a real backend and a real Argo CD API.
import {fileURLToPath} from 'node:url';
import {expect, test, type Theme} from './argo';

const folder = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
const path = (name: string, theme: Theme) => `${folder}${name}-${theme}.png`;

for (const theme of ['light', 'dark'] as const) {
  test(`application view, ${theme}`, async ({argo}) => {
    await argo.view('checkout', {theme});
    await expect(argo.page.getByRole('heading', {level: 2})).toContainText('differences in');
    await argo.page.screenshot({path: path('view', theme)});
  });

  test(`a finding with its fix, ${theme}`, async ({argo}) => {
    await argo.page.setViewportSize({width: 1400, height: 1000});
    await argo.view('checkout', {theme});
    const finding = argo.ours.getByRole('button', {name: /Deployment.* checkout/, expanded: false}).first();
    await finding.click();
    await argo.ours.locator('.moorpin-finding--open').evaluate((element) => element.scrollIntoView({block: 'center'}));
    await argo.page.screenshot({path: path('finding', theme)});
  });

  test(`the editor, ${theme}`, async ({argo}) => {
    await argo.view('search', {theme});
    await argo.ours.getByRole('button', {name: /Deployment.* search/, expanded: false}).first().click();
    await argo.ours.getByRole('button', {name: 'Try an ignore rule for these fields'}).click();
    await expect(argo.ours.getByText(/would be Synced/i).first()).toBeVisible();
    await argo.ours.locator('.moorpin-editor').evaluate((element) => element.scrollIntoView({block: 'start'}));
    await argo.page.screenshot({path: path('editor', theme)});
  });

  test(`resource tab, ${theme}`, async ({argo}) => {
    await argo.tab('catalog', 'apps/Deployment/catalog/catalog', {theme});
    const line = argo.ours.getByRole('option', {name: /debug/}).first();
    await line.scrollIntoViewIfNeeded();
    await line.click();
    await argo.page.screenshot({path: path('tab', theme)});
  });

  test(`fly-out, ${theme}`, async ({argo}) => {
    await argo.open('applications/argocd/checkout?extension=moorpin', {theme});
    await expect(argo.page.locator('.moorpin-flyout .moorpin-verdict')).toBeVisible();
    await argo.page.screenshot({path: path('flyout', theme)});
  });

  test(`system page, ${theme}`, async ({argo}) => {
    await argo.open('applications', {theme});
    await argo.page.getByRole('button', {name: 'Drift'}).click();
    await expect(argo.ours.getByRole('list', {name: 'Why Applications drift'})).toBeVisible();
    await expect(argo.ours.getByRole('progressbar')).toHaveCount(0);
    await argo.page.screenshot({path: path('system', theme)});
  });

  test(`first-use help, ${theme}`, async ({argo}) => {
    await argo.view('checkout', {theme, user: 'ben'});
    await expect(argo.page.locator('.moorpin-view').getByText('extensions, invoke, moorpin, allow')).toBeVisible();
    await argo.page.screenshot({path: path('help', theme)});
  });
}
