import * as React from 'react';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {forget} from '../src/api';
import {ApplicationView} from '../src/app/ApplicationView';
import {forgetReports} from '../src/panel/shared';
import {ErrorBoundary} from '../src/parts/ErrorBoundary';
import type {Answer, Application} from '../src/types';
import autoscaler from './fixtures/autoscaler.json';
import blocked from './fixtures/blocked.json';
import defaults from './fixtures/defaults.json';
import edited from './fixtures/edited.json';
import prune from './fixtures/prune.json';
import random from './fixtures/random.json';
import several from './fixtures/several.json';
import shared from './fixtures/shared.json';
import synced from './fixtures/synced.json';
import unhealthy from './fixtures/unhealthy.json';
import {finding, report} from './made';
import {mount, press, settle, type, type Mounted} from './mount';
import {argoCD, capabilities, network, type Asked, type Given} from './net';

const app: Application = {metadata: {name: 'shop', namespace: 'argocd'}, spec: {project: 'default'}, status: {sync: {status: 'OutOfSync'}, reconciledAt: '2026-01-01T00:00:00Z'}};
const base = 'extensions/moorpin/api/v1/';
let page: Mounted | undefined;

beforeEach(() => {
  forget();
  forgetReports();
  window.history.replaceState(null, '', '/applications/argocd/shop?view=Drift');
});
afterEach(async () => {
  await page?.unmount();
  page = undefined;
  vi.unstubAllGlobals();
});

async function shown(answer: unknown, more: {[start: string]: Given | ((asked: Asked) => Given)} = {}): Promise<HTMLElement> {
  network({[`${base}capabilities`]: {body: {...capabilities, feeds: ['backend']}}, [`${base}report`]: {body: answer}, ...more});
  page = await mount(<ApplicationView application={app} />);
  await settle();
  await settle();
  return page.container;
}

const text = (element: Element | null): string => element?.textContent ?? '';

describe('the application view', () => {
  const fixtures = {autoscaler, blocked, defaults, edited, prune, random, several, shared, synced, unhealthy} as unknown as {[name: string]: Answer};
  for (const [name, answer] of Object.entries(fixtures)) {
    it(`answers in one sentence first, then shows every finding: ${name}`, async () => {
      const container = await shown(answer);
      expect(text(container.querySelector('h2'))).toContain(answer.report.verdict);
      const wanted = answer.report.findings.filter(({mechanism}) => mechanism !== 'none');
      expect(container.querySelectorAll('.moorpin-finding')).toHaveLength(wanted.length);
      expect(container.querySelectorAll('.moorpin-loss').length > 0).toBe(wanted.some(({sync}) => sync === 'overwrites-live' || sync === 'destructive'));
    });
  }

  it('puts what needs somebody before noise', async () => {
    const container = await shown({...several, report: {...several.report, findings: [...defaults.report.findings, finding('git-ahead', {sync: 'safe'}), ...several.report.findings]}});
    expect(Array.from(container.querySelectorAll('.moorpin-section > h3')).map(text)).toEqual([expect.stringContaining('Needs action'), expect.stringContaining('Solved by a sync'), expect.stringContaining('Noise')]);
    expect(text(container.querySelector('.moorpin-group h4'))).toBe('Changed by hand');
  });

  it('names the value, who wrote it and when, where a sync overwrites it', async () => {
    const container = await shown(edited);
    const box = container.querySelector('.moorpin-loss');
    const field = (edited as Answer).report.findings[0]!.fields[0]!;
    expect(text(box)).toContain(String(field.live));
    expect(text(box)).toContain(field.owner!.manager);
    expect(box!.querySelector('time')!.getAttribute('title')).toMatch(/20\d\d/);
  });

  it('opens a finding, and keeps that in the URL', async () => {
    const container = await shown(several);
    await press(container, 'Deployment.*Sync overwrites');
    expect(text(container.querySelector('.moorpin-fields'))).toContain('debug');
    expect(text(container.querySelector('.moorpin-fixes'))).toContain('proven for Argo CD v2.14.21');
    expect(new URLSearchParams(window.location.search).get('moorpin')).toContain('open:manual-edit');
    expect(new URLSearchParams(window.location.search).get('view')).toBe('Drift');
  });

  it('leaves the focus where it was when it copies without a clipboard', async () => {
    const container = await shown(several);
    await press(container, 'Deployment.*Sync overwrites');
    const button = container.querySelector<HTMLElement>('.moorpin-copy')!;
    button.focus();
    await press(container, 'Copy: ');
    await settle();
    expect(document.activeElement).toBe(button);
    expect(document.querySelector('textarea')).toBeNull();
  });

  it('shows what a link says', async () => {
    window.history.replaceState(null, '', '/?view=Drift&moorpin=mechanism:hpa-replicas');
    const container = await shown(several);
    expect(container.querySelectorAll('.moorpin-finding')).toHaveLength(1);
    expect(text(container)).toContain('1 of 3 findings');
    await press(container, 'Clear filters');
    expect(container.querySelectorAll('.moorpin-finding')).toHaveLength(3);
    expect(window.location.search).toBe('?view=Drift');
  });

  it('leads from the loss to the finding', async () => {
    const seen: Element[] = [];
    Element.prototype.scrollIntoView = function scrolled(this: Element) {
      seen.push(this);
    };
    const container = await shown(several);
    await press(container.querySelector('.moorpin-loss')!, 'storefront');
    const finding = container.querySelector('.moorpin-finding--open')!;
    expect(seen).toEqual([finding]);
    expect(document.activeElement).toBe(finding.querySelector('button'));
    // Where it is opened in its place, nothing moves.
    await press(finding as HTMLElement, 'Deployment');
    await press(container, 'Deployment.*Fights a controller');
    expect(seen).toHaveLength(1);
    Reflect.deleteProperty(Element.prototype, 'scrollIntoView');
  });

  it('says that it is of another state, when that matters', async () => {
    const container = await shown(edited);
    const at = (status: Partial<NonNullable<Application['status']>>) => page!.redraw(<ApplicationView application={{...app, status: {...app.status, ...status}}} />);
    await at({reconciledAt: '2026-06-01T00:00:00Z'});
    expect(text(container)).not.toContain('has changed since');
    await at({resources: [{kind: 'Service', name: 'a', status: 'OutOfSync'}]});
    expect(text(container.querySelector('.moorpin-tag--warn'))).toContain('The Application has changed since');
  });

  it('says so kindly when nothing drifts', async () => {
    expect(text((await shown(synced)).querySelector('.moorpin-empty'))).toContain('Nothing drifts');
  });

  it('does not say so of what it could not read', async () => {
    const small = {...capabilities, limits: {...capabilities.limits, bodyBytes: 1500}};
    const container = await shown(synced, {...argoCD(), [`${base}capabilities`]: {body: small}, [`${base}classify`]: {body: synced}});
    expect(text(container.querySelector('.moorpin-empty'))).toContain('Nothing was found in what could be read');
    expect(text(container.querySelector('h2'))).toContain('No difference in what could be read.');
    expect(container.querySelector('.moorpin-verdict--good, .fa-check-circle')).toBeNull();
    expect(container.querySelector<HTMLDetailsElement>('.moorpin-notes')?.open).toBe(true);
  });

  it('does not say that nothing hides where it did not look', async () => {
    const container = await shown(synced, {...argoCD(), [`${base}capabilities`]: {body: capabilities}, [`${base}classify`]: {body: synced}});
    expect(text(container.querySelector('h2'))).toBe(' In sync: Argo CD flags nothing.');
    expect(text(container.querySelector('.moorpin-empty'))).toContain('looked for only when you ask');
    await settle(() => container.querySelector<HTMLInputElement>('.moorpin-tools input')!.click());
    await settle();
    expect(text(container.querySelector('h2'))).toContain('nothing hides');
  });

  it('keeps what is shown, and the focus, while it looks into Synced resources', async () => {
    let answer: (given: Given) => void = () => undefined;
    let asked = 0;
    const container = await shown(several, {
      ...argoCD(),
      [`${base}capabilities`]: {body: capabilities},
      [`${base}classify`]: () => (asked++ === 0 ? {body: several} : (new Promise<Given>((resolve) => (answer = resolve)) as never)),
    });
    const box = container.querySelector<HTMLInputElement>('.moorpin-tools input')!;
    box.focus();
    await settle(() => box.click());
    expect(container.querySelectorAll('.moorpin-finding')).toHaveLength(3);
    expect(document.activeElement).toBe(box);
    await settle(() => answer({body: synced}));
    await settle();
    expect(container.querySelectorAll('.moorpin-finding')).toHaveLength(0);
    expect(text(container.querySelector('.moorpin-empty'))).not.toContain('looked for only when you ask');
  });

  it('shows the report of a backend that sends less', async () => {
    const container = await shown({report: {verdict: 'It is so.', findings: [{mechanism: 'novel', sync: 'novel-effect', resource: {kind: 'Pod', name: 'web'}, fields: null, evidence: null, fixes: null}]}});
    await press(container, 'Pod');
    expect(text(container)).toContain('Novel');
    expect(text(container)).toContain('novel-effect');
    expect(text(container)).not.toMatch(/undefined|null/);
    expect(container.querySelector('.moorpin-loss')).toBeNull();
  });

  it('keeps long lists out of the page', async () => {
    const fields = Array.from({length: 5000}, (_, i) => ({pointer: `/spec/list/${i}/value`, target: 'a', live: `b${i}`}));
    const container = await shown({report: report([finding('manual-edit', {fields})]), version: '1'});
    await press(container, 'Deployment.*5000 fields');
    expect(container.querySelectorAll('[role=option]').length).toBeGreaterThan(5);
    expect(container.querySelectorAll('*').length).toBeLessThan(800);
    await press(container, 'spec.list\\[3\\]');
    expect(text(container.querySelector('.moorpin-fields'))).toContain('b3');
    // One stop of the Tab key leads past all of them; the arrow keys move within.
    const list = container.querySelector('[role=listbox]')!;
    expect(list.querySelectorAll('button, a, [tabindex="0"]')).toHaveLength(0);
    await settle(() => list.dispatchEvent(new KeyboardEvent('keydown', {key: 'End', bubbles: true})));
    expect(text(container.querySelector('.moorpin-fields'))).toContain('b4999');
    expect(list.getAttribute('aria-activedescendant')).toBe(list.querySelector('[aria-selected=true]')?.id);
  });

  it('shows many findings of one mechanism in parts', async () => {
    const findings = Array.from({length: 300}, (_, i) => finding('manual-edit', {resource: {group: '', kind: 'ConfigMap', namespace: 'web', name: `map-${i}`}}));
    const container = await shown({report: report(findings), version: '1'});
    expect(container.querySelectorAll('.moorpin-finding')).toHaveLength(25);
    await press(container, 'Show 100 more');
    expect(container.querySelectorAll('.moorpin-finding')).toHaveLength(125);
  });

  it('takes every string of a cluster for data', async () => {
    const evil = '<img src=x onerror=alert(1)>\u202Egnp.exe\u0007';
    const hostile = finding(evil, {resource: {group: evil, kind: evil, namespace: evil, name: evil}, summary: evil, evidence: [evil], loss: [evil], sync: 'destructive', fields: [{pointer: `/${evil}`, target: evil, live: {[evil]: [evil]}, owner: {manager: evil, operation: evil, time: evil}}], fixes: [{kind: evil, where: evil as never, snippet: evil, proven: true, why: evil}]});
    const container = await shown({report: report([hostile], {verdict: evil}), version: '1', warnings: [evil]});
    await press(container, 'Sync destroys');
    expect(container.querySelector('img')).toBeNull();
    expect(text(container)).toContain('\\u202e');
    expect(text(container)).not.toMatch(/[\u202e\u0007]/);
  });
});

describe('what goes wrong', () => {
  it('prints the missing line of the policy', async () => {
    const container = await shown(edited, {[`${base}capabilities`]: {status: 401, body: 'Unauthorized extension request\n'}});
    expect(text(container.querySelector('[role=alert]'))).toContain('p, role:readonly, extensions, invoke, moorpin, allow');
  });

  it('keeps the report when a new one does not come, and tries again', async () => {
    let down = false;
    const container = await shown(edited, {[`${base}report`]: () => (down ? {status: 502, body: ''} : {body: edited})});
    down = true;
    await press(container, 'Refresh');
    await settle();
    expect(text(container)).toContain('does not answer');
    expect(text(container.querySelector('h2'))).toContain((edited as Answer).report.verdict);
    down = false;
    await press(container, 'Try again');
    await settle();
    expect(text(container)).not.toContain('does not answer');
  });

  it('tells that it tries again', async () => {
    let asked = 0;
    const container = await shown(edited, {[`${base}report`]: () => (asked++ === 0 ? {status: 502, body: ''} : (new Promise(() => undefined) as never))});
    await press(container, 'Try again');
    const button = container.querySelector<HTMLButtonElement>('.moorpin-help > button')!;
    expect(text(button)).toContain('Trying again');
    // A button that is disabled would lose the keyboard's place.
    expect([button.getAttribute('aria-disabled'), button.disabled]).toEqual(['true', false]);
  });

  it('stays within the surface when it is a mistake of ours', async () => {
    const quiet = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    let broken = true;
    const Broken = (): React.ReactElement => {
      if (broken) {
        throw new Error('boom');
      }
      return <p>fine</p>;
    };
    page = await mount(
      <ErrorBoundary surface='The Drift view'>
        <Broken />
      </ErrorBoundary>,
    );
    expect(text(page.container)).toContain('The Drift view could not be shown');
    broken = false;
    await press(page.container, 'Try again');
    expect(text(page.container)).toBe('fine');
    quiet.mockClear();
  });
});

describe('the editor of ignore rules', () => {
  const preview = {hides: [{resource: several.report.findings[1]!.resource, pointer: '/spec/replicas', mechanism: 'hpa-replicas', sync: 'fights-controller'}], remaining: 1, synced: false, covers: [], coversTotal: 1};

  async function edit(answer: Given): Promise<[HTMLElement, Asked[]]> {
    const asked: Asked[] = [];
    const container = await shown(several, {
      [`${base}fixes/prove`]: (request) => {
        asked.push(request);
        return answer;
      },
    });
    await press(container, 'Deployment.*Fights a controller');
    container.querySelector<HTMLElement>('.moorpin-finding__body > p > button')!.focus();
    await press(container, 'Try an ignore rule for these fields');
    await settle(undefined, 500);
    return [container, asked];
  }

  it('starts with the fields of a finding and says what the rule would do', async () => {
    const [container, asked] = await edit({body: preview});
    expect(JSON.parse(asked[0]!.body)).toEqual({rules: [{group: 'apps', kind: 'Deployment', name: 'storefront', namespace: 'storefront-three', jsonPointers: ['/spec/replicas']}]});
    const outcome = text(container.querySelector('.moorpin-outcome'));
    expect(outcome).toContain('would stay OutOfSync: 1 field would remain');
    expect(outcome).toContain('spec.replicas');
    expect(text(container.querySelector('.moorpin-editor .moorpin-snippet'))).toContain('- /spec/replicas');
  });

  it('takes what it found of one rule for nothing about another', async () => {
    const [container] = await edit({body: {...preview, remaining: 0, synced: true}});
    expect(text(container.querySelector('.moorpin-outcome'))).toContain('would be Synced');
    await type(container.querySelector('.moorpin-form input[placeholder=Deployment]'), 'Service');
    expect(container.querySelector('.moorpin-outcome')).toBeNull();
    expect(text(container.querySelector('.moorpin-editor__outcome'))).toContain('Trying it');
    await settle(undefined, 500);
    expect(text(container.querySelector('.moorpin-outcome'))).toContain('would be Synced');
  });

  it('calls dead only a rule that would hide nothing later either', async () => {
    const [container] = await edit({body: {...preview, hides: [], coversTotal: 2}});
    expect(text(container.querySelector('.moorpin-outcome'))).toContain('hides nothing that differs now');
    expect(text(container.querySelector('.moorpin-outcome'))).not.toContain('dead');
  });

  it('gives the focus back to where it was opened', async () => {
    const [container] = await edit({body: preview});
    expect(document.activeElement).toBe(container.querySelector('.moorpin-editor'));
    container.querySelector<HTMLElement>('.moorpin-editor__head button')!.focus();
    await press(container.querySelector('.moorpin-editor')!, 'Close the editor');
    await settle(undefined, 20);
    expect(container.querySelector('.moorpin-editor')).toBeNull();
    expect(text(document.activeElement)).toContain('Try an ignore rule for these fields');
  });

  it('says which line is wrong', async () => {
    const [container] = await edit({status: 422, body: {error: 'rules[0].jsonPointers[0]: no pointer', hint: 'correct the named part of the rule', part: 'rules[0].jsonPointers[0]'}});
    expect(text(container.querySelector('.moorpin-editor [role=alert]'))).toMatch(/no pointer.*In the line \/spec\/replicas/);
  });
});
