import * as React from 'react';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {MoorpinError} from '../src/errors';
import {forgetReports} from '../src/panel/shared';
import {ResourceTab} from '../src/resource/ResourceTab';
import type {KubeObject} from '../src/types';
import {application, deployment, finding, loaded, report} from './made';
import {mount, press, settle, type} from './mount';
import type {Mounted} from './mount';

const load = vi.hoisted(() => vi.fn());
vi.mock('../src/api', async (original) => ({...(await original<typeof import('../src/api')>()), load}));

const front = {group: 'apps', kind: 'Deployment', namespace: 'web', name: 'front'};
let page: Mounted | undefined;

beforeEach(() => {
  forgetReports();
  load.mockReset();
});
afterEach(async () => {
  await page?.unmount();
  page = undefined;
});

async function show(sync: string, resource: KubeObject = deployment): Promise<HTMLElement> {
  page = await mount(<ResourceTab application={application('shop', 'OutOfSync', [{...front, status: sync}])} resource={resource} />);
  return page.container;
}

function rows(container: HTMLElement): string[] {
  return Array.from(container.querySelectorAll('[role=option]')).map((row) => row.textContent ?? '');
}

describe('resource tab', () => {
  it('says why the resource differs, and names who wrote each field', async () => {
    const edited = finding('manual-edit', {sync: 'overwrites-live', loss: ['/spec/replicas: 5'], fields: [{pointer: '/spec/replicas', target: 2, live: 5}]});
    load.mockResolvedValue(loaded(report([edited, finding('git-ahead', {resource: {...front, name: 'other'}})])));
    const container = await show('OutOfSync');
    expect(container.textContent).toContain('Because of manual-edit.');
    expect(container.textContent).not.toContain('Because of git-ahead.');
    expect(rows(container)).toContain('kubectl-scalereplicas: 5 (differs from Git)');
    expect(rows(container)).toContain('argocd-controllerpaused: false');
    expect(rows(container)).toContain('No recorded writertype: RollingUpdate');
    expect(container.querySelectorAll('.moorpin-line--differs')).toHaveLength(1);
  });

  it('does not call well what Argo CD flags and the report does not explain', async () => {
    load.mockResolvedValue(loaded(report([])));
    const container = await show('OutOfSync');
    expect(container.textContent).toContain('the report no longer finds a difference here');
    expect(container.querySelector('.moorpin-notice--good')).toBeNull();
  });

  it('blames a Synced resource without asking anybody', async () => {
    const container = await show('Synced');
    expect(load).not.toHaveBeenCalled();
    expect(container.textContent).toContain('Argo CD flags no difference here.');
    expect(rows(container).some((row) => row.includes('kubectl-scale'))).toBe(true);
  });

  it('looks for what Argo CD does not compare when it is asked to', async () => {
    load.mockResolvedValue(loaded(report([finding('hidden-live-addition', {flagged: false})])));
    const container = await show('Synced');
    await press(container, /Look for changes/);
    expect(load).toHaveBeenCalledWith(expect.anything(), expect.objectContaining({all: true}));
    expect(container.textContent).toContain('Because of hidden-live-addition.');
  });

  it('says so where Argo CD does not manage the resource', async () => {
    page = await mount(<ResourceTab application={application('shop', 'Synced')} resource={deployment} />);
    expect(page.container.textContent).toContain('does not compare this resource');
    expect(load).not.toHaveBeenCalled();
  });

  it('keeps the blame when the report cannot be had', async () => {
    load.mockRejectedValue(new MoorpinError('noRight', 'You may not.'));
    const container = await show('OutOfSync');
    expect(container.textContent).toContain('extensions, invoke, moorpin, allow');
    expect(rows(container).length).toBeGreaterThan(3);
  });

  it('survives a resource that is none', async () => {
    const container = await show('OutOfSync', {} as KubeObject);
    expect(container.textContent).toContain('no live object');
  });
});

describe('blame', () => {
  it('tells all about a line that is chosen', async () => {
    const container = await show('Synced');
    await press(container, /replicas: 5/);
    const details = container.querySelector('[aria-label="The chosen field"]');
    expect(details?.textContent).toContain('/spec/replicas');
    expect(details?.textContent).toContain('People kubectl-scale by Update of scale');
    expect(details?.querySelector('time')?.getAttribute('datetime')).toBe('2026-02-01T00:00:00Z');
  });

  it('guesses nothing where nothing is recorded', async () => {
    const container = await show('Synced', {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}, data: {a: 'b'}});
    expect(container.textContent).toContain('carries no managedFields');
    await press(container, /a: b/);
    expect(container.querySelector('[aria-label="The chosen field"]')?.textContent).toBe('/data/ab');
  });

  it('is moved through with the keyboard', async () => {
    const container = await show('Synced');
    const list = container.querySelector('[role=listbox]');
    for (const key of ['ArrowDown', 'ArrowDown', 'End', 'ArrowUp', 'Home']) {
      await settle(() => list?.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true})));
    }
    expect(container.querySelector('[aria-selected=true]')?.textContent).toContain('apiVersion: apps/v1');
    expect(list?.getAttribute('aria-activedescendant')).toBe(container.querySelector('[aria-selected=true]')?.id);
  });

  it('shows the fields of one kind of writer, with what they stand in', async () => {
    const container = await show('Synced');
    await press(container, /^People 1/);
    expect(rows(container)).toEqual(['spec: ', 'kubectl-scalereplicas: 5']);
    await press(container, /^People 1/);
    expect(rows(container).length).toBeGreaterThan(5);
  });

  it('searches, and shows status when asked to', async () => {
    const container = await show('Synced');
    expect(rows(container).some((row) => row.includes('readyReplicas'))).toBe(false);
    await settle(() => container.querySelector<HTMLInputElement>('[type=checkbox]')?.click());
    await type(container.querySelector('[type=search]'), 'ready');
    expect(rows(container)).toEqual(['status: ', 'No recorded writerreadyReplicas: 5']);
    await type(container.querySelector('[type=search]'), 'nothing has this');
    expect(container.textContent).toContain('No field matches.');
  });

  it('draws only what is in sight of many fields', async () => {
    const data = Object.fromEntries(Array.from({length: 5000}, (_, i) => [`key-${i}`, `value ${i}`]));
    const container = await show('Synced', {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'big'}, data});
    expect(rows(container).length).toBeLessThan(120);
    expect(container.querySelector('[role=option]')?.getAttribute('aria-setsize')).toBe('5005');
  });

  it('shows hostile texts as text', async () => {
    const container = await show('Synced', {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'x'}, data: {'<img src=x>': '<script>alert(1)</script>', bidi: 'a\u202eb\u0000'}});
    expect(container.querySelector('img, script')).toBeNull();
    expect(container.textContent).toContain('<script>alert(1)</script>');
    expect(container.textContent).not.toMatch(/[\u202e\u0000]/);
  });
});
