// What stands in a cluster is text, whatever it looks like.
import {expect, sample, test} from './argo';

test('markup, addresses and control characters are shown, not obeyed', sample, async ({argo}) => {
  let dialogs = 0;
  argo.page.on('dialog', (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  await argo.view('hostile', {user: 'tess'});
  for (const button of await argo.ours.getByRole('button', {name: /hostile/, expanded: false}).all()) {
    await button.click();
  }
  await expect(argo.ours.getByText("<script>alert('moorpin')</script>").first()).toBeVisible();
  await expect(argo.ours.getByText('<img src=x onerror=alert(1)>').first()).toBeVisible();
  expect(await argo.ours.locator('script, img, iframe, svg[onload], a[href^="javascript"]').count()).toBe(0);
  const text = (await argo.ours.allInnerTexts()).join('');
   
  expect(text).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
  expect(dialogs).toBe(0);
  await argo.accessible();
});

test('the tab of such a resource shows it too', async ({argo}) => {
  await argo.tab('hostile', '/ConfigMap/hostile/hostile', {user: 'tess'});
  await expect(argo.ours.getByText('<img src=x onerror=alert(1)>').first()).toBeVisible();
  expect(await argo.ours.locator('script, img, iframe').count()).toBe(0);
  await argo.accessible();
});
