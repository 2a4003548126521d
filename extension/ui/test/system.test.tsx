import * as React from 'react';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {MoorpinError} from '../src/errors';
import {forgetAll} from '../src/system/memory';
import {run} from '../src/system/queue';
import {countsOf, groupsOf, worstOf} from '../src/system/summary';
import {SystemPage} from '../src/system/SystemPage';
import type {Application} from '../src/types';
import {application, finding, loaded, report} from './made';
import {mount, press, settle, type} from './mount';
import type {Mounted} from './mount';

const load = vi.hoisted(() => vi.fn());
const listApplications = vi.hoisted(() => vi.fn());
vi.mock('../src/api', async (original) => ({...(await original<typeof import('../src/api')>()), load, listApplications}));

let page: Mounted | undefined;

beforeEach(() => {
  forgetAll();
  load.mockReset();
  listApplications.mockReset();
});
afterEach(async () => {
  await page?.unmount();
  page = undefined;
});

async function show(apps: Application[]): Promise<HTMLElement> {
  listApplications.mockResolvedValue(apps);
  page = await mount(<SystemPage />);
  await drawn();
  return page.container;
}

/** Waits until what came in together was drawn. */
async function drawn(): Promise<void> {
  await settle(undefined, 200);
}

const edited = loaded(report([finding('manual-edit', {sync: 'overwrites-live', fields: [{pointer: '/a', live: 1}]}), finding('git-ahead', {sync: 'safe'})]));

describe('system page', () => {
  it('groups what makes Applications drift, the worst first', async () => {
    load.mockImplementation((app: Application) => Promise.resolve(app.metadata.name === 'a' ? edited : loaded(report([finding('git-ahead', {sync: 'safe'})]))));
    const container = await show([application('a', 'OutOfSync'), application('b', 'OutOfSync'), application('c', 'Synced')]);
    expect(container.textContent).toContain('2 OutOfSync of 3 Applications.');
    expect(Array.from(container.querySelectorAll('.moorpin-why__head strong')).map((name) => name.textContent)).toEqual(['Changed by hand', 'Git is ahead']);
    expect(load).toHaveBeenCalledTimes(2);
    await press(container, /^.*Git is ahead/);
    const links = Array.from(container.querySelectorAll('.moorpin-why a')).map((link) => link.getAttribute('href'));
    expect(links).toEqual(['applications/argocd/a?view=Drift&moorpin=mechanism%3Agit-ahead', 'applications/argocd/b?view=Drift&moorpin=mechanism%3Agit-ahead']);
  });

  it('finds Applications by name and by reason', async () => {
    load.mockResolvedValue(edited);
    const container = await show([application('a', 'OutOfSync'), application('b', 'Synced')]);
    await type(container.querySelector('[type=search]'), 'by hand');
    expect(container.textContent).toContain('1 OutOfSync of 1 Application.');
    await type(container.querySelector('[type=search]'), 'b');
    expect(container.textContent).toContain('Changed by hand');
    await type(container.querySelector('[type=search]'), 'argocd/b');
    expect(container.textContent).toContain('The one Application is Synced.');
  });

  it('says so kindly where nothing drifts, and asks for no report', async () => {
    const container = await show([application('a', 'Synced'), application('b', 'Synced')]);
    expect(container.textContent).toContain('All 2 Applications are Synced.');
    expect(load).not.toHaveBeenCalled();
  });

  it('asks before it reads very many', async () => {
    load.mockResolvedValue(edited);
    const container = await show(Array.from({length: 40}, (_, i) => application(`app-${i}`, 'OutOfSync')));
    expect(load).not.toHaveBeenCalled();
    await press(container, /Read 40 reports/);
    await drawn();
    expect(load).toHaveBeenCalledTimes(40);
    expect(container.querySelector('[role=progressbar]')).toBeNull();
  });

  it('can be stopped, and goes on where it stopped', async () => {
    const waiting: (() => void)[] = [];
    load.mockImplementation((_, {signal}: {signal: AbortSignal}) => new Promise((resolve, reject) => {
      waiting.push(() => resolve(edited));
      signal.addEventListener('abort', () => reject(new DOMException('gone', 'AbortError')));
    }));
    const container = await show(Array.from({length: 5}, (_, i) => application(`app-${i}`, 'OutOfSync')));
    expect(load).toHaveBeenCalledTimes(3);
    await settle(() => waiting[0]?.());
    await drawn();
    expect(container.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')).toBe('1');
    await press(container, /^Stop/);
    await press(container, /Read 4 reports/);
    expect(container.querySelector('[role=progressbar]')?.getAttribute('aria-valuemax')).toBe('4');
  });

  it('names what could not be read, and shows the rest', async () => {
    load.mockImplementation((app: Application) => (app.metadata.name === 'bad' ? Promise.reject(new MoorpinError('tooSlow', 'It took too long.')) : Promise.resolve(edited)));
    const container = await show([application('bad', 'OutOfSync'), application('good', 'OutOfSync')]);
    expect(container.textContent).toContain('1 report could not be had');
    expect(container.textContent).toContain('argocd/bad: It took too long.');
    expect(container.textContent).toContain('Changed by hand');
  });

  it('asks no further when nobody could be answered', async () => {
    load.mockRejectedValue(new MoorpinError('noRight', 'You may not.'));
    const container = await show(Array.from({length: 20}, (_, i) => application(`app-${i}`, 'OutOfSync')));
    expect(load.mock.calls.length).toBeLessThanOrEqual(6);
    expect(container.textContent).toContain('extensions, invoke, moorpin, allow');
  });

  it('says why there is no list', async () => {
    listApplications.mockRejectedValue(new MoorpinError('sessionOver', 'Your session has ended.'));
    page = await mount(<SystemPage />);
    expect(page.container.textContent).toContain('Log in to Argo CD again');
  });

  it('remembers what it found while it is left', async () => {
    load.mockResolvedValue(edited);
    await show([application('a', 'OutOfSync')]);
    await page?.unmount();
    const container = await show([application('a', 'OutOfSync')]);
    expect(load).toHaveBeenCalledTimes(1);
    expect(container.textContent).toContain('Changed by hand');
    expect(container.textContent).toContain('Oldest report: just now');
    await press(container, /Refresh/);
    await drawn();
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('remembers nothing of an Application that was synced since', async () => {
    load.mockResolvedValue(edited);
    await show([application('a', 'OutOfSync')]);
    await page?.unmount();
    const synced = application('a', 'OutOfSync');
    synced.status!.operationState = {finishedAt: '2026-01-02T00:00:00Z'};
    await show([synced]);
    expect(load).toHaveBeenCalledTimes(2);
  });
});

describe('queue', () => {
  it('asks about a few at a time', async () => {
    let under = 0;
    let most = 0;
    const seen: number[] = [];
    await run({
      items: [1, 2, 3, 4, 5, 6, 7],
      atOnce: 3,
      signal: new AbortController().signal,
      ask: async (item) => {
        most = Math.max(most, ++under);
        await Promise.resolve();
        under -= 1;
        return item * 2;
      },
      done: (_, result) => seen.push(result ?? 0) > 0,
    });
    expect(most).toBe(3);
    expect(seen.sort((a, b) => a - b)).toEqual([2, 4, 6, 8, 10, 12, 14]);
  });

  it('waits as long as it is told where the answer is that it is busy, and gives up in the end', async () => {
    const waited: number[] = [];
    const errors: unknown[] = [];
    await run({
      items: ['a'],
      atOnce: 1,
      signal: new AbortController().signal,
      ask: () => Promise.reject(new MoorpinError('busy', 'busy', {retryAfter: 2})),
      done: (_, __, error) => errors.push(error) > 0,
      wait: (milliseconds) => {
        waited.push(milliseconds);
        return Promise.resolve();
      },
    });
    expect(waited).toEqual([2000, 4000, 6000]);
    expect(errors).toHaveLength(1);
  });
});

describe('summary', () => {
  it('counts by mechanism and takes the worst', () => {
    const counts = countsOf(report([finding('git-ahead', {sync: 'safe'}), finding('git-ahead', {sync: 'destructive'}), finding('none'), finding('manual-edit')]));
    expect(counts.map(({mechanism, findings, sync}) => [mechanism, findings, sync])).toEqual([['git-ahead', 2, 'destructive'], ['manual-edit', 1, 'noop']]);
    expect(worstOf(counts)).toBe('destructive');
    expect(worstOf([])).toBe('nothing-to-do');
  });

  it('puts the worst group first, then that of most Applications', () => {
    const entry = (name: string, ...found: ReturnType<typeof finding>[]) => ({application: application(name, 'OutOfSync'), counts: countsOf(report(found))});
    const groups = groupsOf([entry('a', finding('x'), finding('y')), entry('b', finding('y')), entry('c', finding('z', {sync: 'destructive'}))]);
    expect(groups.map(({mechanism, affected}) => [mechanism, affected.length])).toEqual([['z', 1], ['y', 2], ['x', 1]]);
    // What needs somebody comes before what a sync solves, though a sync changes nothing there.
    const other = groupsOf([entry('a', finding('crd-list-default'), finding('git-ahead', {sync: 'safe'}), finding('pending-prune'))]);
    expect(other.map(({mechanism}) => mechanism)).toEqual(['pending-prune', 'git-ahead', 'crd-list-default']);
  });
});
