// Everything can be reached and used with the keyboard, and what has the focus is seen.
import {expect, sample, test, type Argo} from './argo';

/** press goes on with Tab until what has the focus is named so. */
async function tabTo(argo: Argo, name: RegExp): Promise<void> {
  for (let i = 0; i < 120; i++) {
    await argo.page.keyboard.press('Tab');
    const focused = await argo.page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null;
      return element === null ? '' : `${element.getAttribute('aria-label') ?? ''} ${element.textContent} ${element.getAttribute('placeholder') ?? ''}`;
    });
    if (name.test(focused)) {
      return;
    }
  }
  throw new Error(`Tab never reaches ${name}`);
}

/** seen fails where the focus leaves no mark. */
async function seen(argo: Argo): Promise<void> {
  const mark = await argo.page.evaluate(() => {
    const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(document.activeElement as Element);
    return {outline: outlineStyle !== 'none' && outlineWidth !== '0px', shadow: boxShadow !== 'none'};
  });
  expect(mark.outline || mark.shadow, 'the focus is seen').toBe(true);
}

test('a finding opens, its fix is copied, and the editor opens, without a mouse', sample, async ({argo}) => {
  await argo.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await argo.view('search');
  await expect(argo.page.getByRole('heading', {level: 2})).toContainText('difference');
  await tabTo(argo, /^\s*Deployment[\s\S]*search/);
  await seen(argo);
  await argo.page.keyboard.press('Enter');
  await expect(argo.ours.getByRole('cell', {name: '6'}).first()).toBeVisible();
  await tabTo(argo, /^Copy: /);
  await seen(argo);
  await argo.page.keyboard.press('Enter');
  await expect(argo.ours.getByRole('button', {name: /^Copied/}).first()).toBeVisible();
  expect((await argo.page.evaluate(() => navigator.clipboard.readText())).length).toBeGreaterThan(10);
  await tabTo(argo, /Try an ignore rule for these fields/);
  await seen(argo);
  await argo.page.keyboard.press('Enter');
  await expect(argo.ours.getByText(/would be Synced/i).first()).toBeVisible();
});

test('the lines of the tab are walked with the arrow keys', async ({argo}) => {
  await argo.tab('catalog', 'apps/Deployment/catalog/catalog');
  const list = argo.ours.getByRole('listbox');
  await list.focus();
  await seen(argo);
  await argo.page.keyboard.press('End');
  await expect(list.getByRole('option', {selected: true})).toBeInViewport();
  await argo.page.keyboard.press('Home');
  await argo.page.keyboard.press('ArrowDown');
  await expect(list.getByRole('option', {selected: true})).toHaveAttribute('aria-posinset', '2');
});

test('a list of 5000 fields is one stop, and its arrow keys choose', async ({argo}) => {
  await argo.view('fields', {user: 'tess'});
  await expect(argo.page.getByRole('heading', {level: 2})).toContainText('difference', {timeout: 30_000});
  await tabTo(argo, /^\s*ConfigMap[\s\S]*flags/);
  await argo.page.keyboard.press('Enter');
  const list = argo.ours.getByRole('listbox', {name: /5,?000 fields/});
  await expect(list).toBeVisible();
  await tabTo(argo, /^Differing fields/);
  await seen(argo);
  await argo.page.keyboard.press('End');
  await expect(list.getByRole('option', {selected: true})).toBeInViewport();
  await expect(argo.ours.getByRole('table').getByText('flag-4999')).toBeVisible();
  await argo.page.keyboard.press('Tab');
  expect(await list.evaluate((element) => element.contains(document.activeElement)), 'Tab leaves the list').toBe(false);
});

test('nothing on the view catches the focus', async ({argo}) => {
  await argo.view('checkout');
  await expect(argo.page.getByRole('heading', {level: 2})).toContainText('difference');
  const stops = new Set<string>();
  let left = false;
  for (let i = 0; i < 250 && !left; i++) {
    await argo.page.keyboard.press('Tab');
    const at = await argo.page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      return {inside: element.closest('.moorpin-view') !== null, name: element.outerHTML.slice(0, 120), body: element === document.body};
    });
    if (at.inside) {
      stops.add(at.name);
    }
    left = stops.size > 0 && !at.inside;
  }
  expect(left, 'Tab leaves the view again').toBe(true);
  expect(stops.size).toBeGreaterThan(5);
});
