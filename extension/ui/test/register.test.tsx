import type * as React from 'react';
import {afterEach, beforeEach, expect, it, vi} from 'vitest';
import {mount} from './mount';

type Registered = [component: React.ComponentType<{application: unknown}>, ...rest: unknown[]];

let calls: {[name: string]: Registered[]} = {};

function offer(...names: string[]): void {
  const api = Object.fromEntries(names.map((name) => [name, (...given: unknown[]) => (calls[name] ??= []).push(given as Registered)]));
  Object.assign(window, {extensionsAPI: api});
}

const all = ['registerAppViewExtension', 'registerResourceExtension', 'registerStatusPanelExtension', 'registerSystemLevelExtension'];

beforeEach(() => {
  vi.resetModules();
  calls = {};
  document.body.innerHTML = '<div id="app"><div></div></div>';
});
afterEach(() => {
  Object.assign(window, {extensionsAPI: undefined});
});

it('registers every surface once', async () => {
  offer(...all);
  await import('../src/index');
  expect(Object.fromEntries(Object.entries(calls).map(([name, given]) => [name, given.map(([, ...rest]) => rest.filter((part) => typeof part === 'string'))]))).toEqual({
    registerAppViewExtension: [['Drift', 'fa-code-branch']],
    registerResourceExtension: [['**', '*', 'Drift']],
    registerStatusPanelExtension: [['Drift', 'moorpin']],
    registerSystemLevelExtension: [['Drift', '/moorpin', 'fa-code-branch']],
  });
});

it('works where functions to register are missing', async () => {
  offer('registerResourceExtension');
  await import('../src/index');
  expect(Object.keys(calls)).toEqual(['registerResourceExtension']);
});

it('does nothing on a page that is not Argo CD', async () => {
  await import('../src/index');
  expect(calls).toEqual({});
});

it('registers the system page only once the page has mounted', async () => {
  document.body.innerHTML = '<div id="app"></div>';
  offer(...all);
  await import('../src/index');
  expect(calls.registerSystemLevelExtension).toBeUndefined();
  document.getElementById('app')!.appendChild(document.createElement('div'));
  await new Promise((resolve) => setTimeout(resolve, 10));
  document.getElementById('app')!.appendChild(document.createElement('div'));
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(calls.registerSystemLevelExtension).toHaveLength(1);
});

it('takes the failure about one Application for no failure about the next', async () => {
  const quiet = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  offer(...all);
  await import('../src/index');
  const React = await import('react');
  const [Panel] = calls.registerStatusPanelExtension![0]!;
  const panel = (application: unknown) => React.createElement(Panel, {application});
  // Resources that are no list are nothing that a surface expects.
  const page = await mount(panel({metadata: {name: 'odd', namespace: 'argocd'}, status: {resources: 7}}));
  expect(page.container.textContent).toContain('could not be shown');
  await page.redraw(panel({metadata: {name: 'shop', namespace: 'argocd'}, status: {sync: {status: 'Synced'}}}));
  expect(page.container.textContent).toContain('None flagged');
  await page.unmount();
  quiet.mockClear();
});

it('shows nothing for an ApplicationSet', async () => {
  offer(...all);
  await import('../src/index');
  const React = await import('react');
  const [Tab] = calls.registerResourceExtension![0]!;
  for (const application of [undefined, {kind: 'ApplicationSet', metadata: {name: 'x'}}, {metadata: {name: 'x'}, spec: {generators: []}}]) {
    const page = await mount(React.createElement(Tab, {application}));
    expect(page.container.textContent).toBe('');
    await page.unmount();
  }
});
