import * as React from 'react';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {MoorpinError} from '../src/errors';
import {Flyout} from '../src/panel/Flyout';
import {StatusPanel} from '../src/panel/StatusPanel';
import {dueIn, forgetReports, stateOf} from '../src/panel/shared';
import {application, finding, loaded, report} from './made';
import {mount, press} from './mount';
import type {Mounted} from './mount';

const load = vi.hoisted(() => vi.fn());
vi.mock('../src/api', async (original) => ({...(await original<typeof import('../src/api')>()), load}));

const drifting = application('shop', 'OutOfSync', [
  {kind: 'Service', name: 'a', status: 'OutOfSync'},
  {kind: 'Service', name: 'b', status: 'OutOfSync'},
  {kind: 'Service', name: 'c', status: 'Synced'},
]);
const lost = report([finding('git-ahead', {sync: 'safe'}), finding('manual-edit', {sync: 'overwrites-live', loss: ['/spec/replicas: 5, written by kubectl'], fields: [{pointer: '/spec/replicas', target: 2, live: 5}]})], {
  verdict: 'Somebody scaled it.',
  sync: 'overwrites-live',
});
let pages: Mounted[] = [];

beforeEach(() => {
  forgetReports();
  load.mockReset();
});
afterEach(async () => {
  for (const page of pages) {
    await page.unmount();
  }
  pages = [];
});

async function show(element: React.ReactElement): Promise<Mounted> {
  const page = await mount(element);
  pages.push(page);
  return page;
}

describe('status panel', () => {
  it('says how much there is, and is loud about a loss', async () => {
    load.mockResolvedValue(loaded(lost));
    const opened = vi.fn();
    const {container} = await show(<StatusPanel application={drifting} openFlyout={opened} />);
    expect(container.textContent).toContain('2 findings');
    expect(container.querySelector('.moorpin-chip__detail--loud')?.textContent).toBe('Sync overwrites a change: 1 finding.');
    await press(container, /2 findings/);
    expect(opened).toHaveBeenCalledTimes(1);
  });

  it('asks nobody about a Synced Application', async () => {
    const {container} = await show(<StatusPanel application={application('quiet', 'Synced', [{kind: 'Service', name: 'c', status: 'Synced'}])} openFlyout={vi.fn()} />);
    expect(container.textContent).toContain('None flagged');
    expect(load).not.toHaveBeenCalled();
  });

  it('shows the number that is known while it finds out why', async () => {
    load.mockReturnValue(new Promise(() => undefined));
    const {container} = await show(<StatusPanel application={drifting} openFlyout={vi.fn()} />);
    expect(container.textContent).toContain('2 out of sync');
    expect(container.textContent).toContain('Finding out why');
  });

  it('does not call well what was never compared', async () => {
    const {container} = await show(<StatusPanel application={{metadata: {name: 'new', namespace: 'argocd'}}} openFlyout={vi.fn()} />);
    expect(container.textContent).toContain('Nothing was compared yet.');
    expect(container.querySelector('.moorpin-chip__value--good, .fa-check-circle')).toBeNull();
  });

  it('claims no more than was read', async () => {
    const saying = async (more: object): Promise<string> => {
      forgetReports();
      load.mockResolvedValue({...loaded(report([])), ...more});
      const page = await mount(<StatusPanel application={drifting} openFlyout={vi.fn()} />);
      const said = page.container.textContent ?? '';
      await page.unmount();
      return said;
    };
    expect(await saying({})).toContain('Git and the cluster agree.');
    expect(await saying({all: false})).toContain('No driftArgo CD flags no difference.');
    expect(await saying({partial: true})).toContain('No drift seenNo difference in what could be read.');
  });

  it('says why it does not know', async () => {
    load.mockRejectedValue(new MoorpinError('backendDown', 'The backend does not answer.'));
    const {container} = await show(<StatusPanel application={drifting} openFlyout={vi.fn()} />);
    expect(container.textContent).toContain('2 out of sync');
    expect(container.textContent).toContain('The backend does not answer.');
  });

  it('shares one report with the fly-out, and is drawn again without asking again', async () => {
    load.mockResolvedValue(loaded(lost));
    const chip = await show(<StatusPanel application={drifting} openFlyout={vi.fn()} />);
    await show(<Flyout application={drifting} />);
    await chip.redraw(<StatusPanel application={{...drifting}} openFlyout={vi.fn()} />);
    expect(load).toHaveBeenCalledTimes(1);
  });
});

describe('fly-out', () => {
  it('says why in short, the most urgent first, and leads to the view', async () => {
    load.mockResolvedValue(loaded(lost));
    const {container} = await show(<Flyout application={drifting} />);
    expect(container.textContent).toContain('Somebody scaled it.');
    const links = Array.from(container.querySelectorAll('li a')).map((link) => link.getAttribute('href'));
    expect(links).toEqual(['applications/argocd/shop?view=Drift&moorpin=mechanism%3Amanual-edit', 'applications/argocd/shop?view=Drift&moorpin=mechanism%3Agit-ahead']);
    expect(container.querySelector('.moorpin-loss')?.textContent).toContain('replicas');
  });

  it('reads again when it is asked to', async () => {
    load.mockResolvedValue(loaded(lost));
    const {container} = await show(<Flyout application={drifting} />);
    load.mockResolvedValue(loaded(report([], {verdict: 'All is well now.'})));
    await press(container, /Refresh/);
    expect(container.textContent).toContain('All is well now.');
  });

  it('tells what to add where the extension is not there', async () => {
    load.mockRejectedValue(new MoorpinError('notConfigured', 'It is not there.'));
    const {container} = await show(<Flyout application={drifting} />);
    expect(container.textContent).toContain('extension.config.moorpin');
  });
});

describe('what is kept', () => {
  it('does not grow with the snapshots of large Applications', async () => {
    load.mockImplementation(() => Promise.resolve({...loaded(lost), snapshot: {length: 30_000_000} as unknown as string}));
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) {
      const page = await mount(<Flyout application={application(name, 'OutOfSync')} />);
      await page.unmount();
    }
    expect(load).toHaveBeenCalledTimes(4);
    await show(<Flyout application={application('d', 'OutOfSync')} />);
    await show(<Flyout application={application('c', 'OutOfSync')} />);
    expect(load).toHaveBeenCalledTimes(4);
    // All three are on the page now, so all three stay, though they are too much.
    await show(<Flyout application={application('a', 'OutOfSync')} />);
    expect(load).toHaveBeenCalledTimes(5);
  });

  it('tells what is under way', async () => {
    load.mockImplementation((_, {progress}: {progress: (step: string) => void}) => {
      progress('Waiting for the report');
      return new Promise(() => undefined);
    });
    const {container} = await show(<Flyout application={drifting} />);
    expect(container.querySelector('.moorpin-loading')?.textContent ?? '').toContain('Waiting for the report');
  });
});

describe('a kept report', () => {
  const now = 1_000_000;
  it.each([
    ['is asked for at once where there is none', undefined, 'a', 0],
    ['is good for a while', {at: now - 10_000, of: 'a', loading: false}, 'a', 290_000],
    ['is asked for anew when the Application has changed', {at: now - 60_000, of: 'b', loading: false}, 'a', 0],
    ['is not asked for too often', {at: now - 5_000, of: 'b', loading: false}, 'a', 10_000],
  ])('%s', (_, known, state, want) => {
    expect(dueIn(known, state, now)).toBe(want);
  });

  it('is of what the Application says of its resources, not of when it was looked at', () => {
    const at = (time: string) => ({...drifting, status: {...drifting.status, reconciledAt: time}});
    expect(stateOf(at('2026-01-01T00:00:00Z'))).toBe(stateOf(at('2026-01-02T00:00:00Z')));
    expect(stateOf(application('shop', 'Synced'))).not.toBe(stateOf(drifting));
  });
});
