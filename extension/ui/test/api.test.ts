import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {forget, listApplications, load, MoorpinError, prove} from '../src/api';
import {tidyAnswer, tidyPreview} from '../src/tidy';
import type {Application} from '../src/types';
import edited from './fixtures/edited.json';
import {argoCD, capabilities, network, type Given} from './net';

const app: Application = {metadata: {name: 'shop', namespace: 'argocd'}, spec: {project: ''}};
const base = 'extensions/moorpin/api/v1/';

beforeEach(forget);
afterEach(() => vi.unstubAllGlobals());

async function troubleOf(answer: Given | undefined): Promise<MoorpinError> {
  network(answer === undefined ? {} : {[`${base}capabilities`]: answer});
  return load(app).then(
    () => Promise.reject(new Error('it was answered')),
    (thrown: MoorpinError) => thrown,
  );
}

describe('what a failure means', () => {
  const rows: {[name: string]: {answer?: Given; want: string; why: string}} = {
    'the page itself': {answer: {body: '<!doctype html><html></html>', type: 'text/html'}, want: 'notConfigured', why: 'with the feature off, Argo CD sends its page with 200'},
    'unknown extension': {answer: {status: 404, body: 'extension moorpin not found\n'}, want: 'notConfigured', why: 'argocd-cm has no such key'},
    'no right': {answer: {status: 401, body: 'Unauthorized extension request\n'}, want: 'noRight', why: 'the policy lacks a line'},
    'no session': {answer: {status: 401, body: {error: 'no session information', code: 16}}, want: 'sessionOver', why: 'the cookie has expired'},
    'no backend': {answer: {status: 502, body: ''}, want: 'backendDown', why: 'the proxy answers so, with nothing'},
    'slow backend': {answer: {status: 504, body: {error: 'the answer took too long', hint: 'ask again'}}, want: 'tooSlow', why: 'the backend gives up by itself'},
    'older backend': {answer: {status: 404, body: {error: 'there is nothing here', hint: 'see /openapi.json'}}, want: 'versionSkew', why: 'a route that the backend does not have'},
    'another shape': {answer: {body: {version: 'v9'}}, want: 'versionSkew', why: 'an answer that cannot be read'},
    busy: {answer: {status: 429, body: {error: 'too many requests'}, headers: {'Retry-After': '2'}}, want: 'busy', why: 'the user asked too often'},
    'no secret': {answer: {status: 403, body: {error: 'the header Moorpin-Secret is missing', hint: 'let argocd-cm send it'}}, want: 'refused', why: 'the backend says itself what to do'},
    'no network': {want: 'offline', why: 'nothing came at all'},
  };
  for (const [name, row] of Object.entries(rows)) {
    it(`${name}: ${row.why}`, async () => {
      const error = await troubleOf(row.answer);
      expect(error).toBeInstanceOf(MoorpinError);
      expect(error.trouble).toBe(row.want);
    });
  }

  it('keeps when to try again, and the hint', async () => {
    expect((await troubleOf(rows.busy!.answer)).retryAfter).toBe(2);
    expect((await troubleOf(rows['no secret']!.answer)).hint).toBe('let argocd-cm send it');
  });
});

describe('the browser feed', () => {
  it('posts what is out of sync, as Argo CD spelt it', async () => {
    const log = network({...argoCD(), [`${base}capabilities`]: {body: capabilities}, [`${base}classify`]: {body: edited}});
    const loaded = await load(app);
    expect(loaded.feed).toBe('browser');
    const posted = log.find(({url}) => url.endsWith('classify'))!;
    expect(posted.method).toBe('POST');
    expect(posted.headers['Argocd-Application-Name']).toBe('argocd:shop');
    expect(posted.headers['Argocd-Project-Name']).toBe('default');
    const snapshot = JSON.parse(posted.body) as {application: {kind: string}; resources: {name: string}[]; settings: {argocdVersion: string; trackingMethod: string; lastCommit: {time: string}}};
    expect(snapshot.application.kind).toBe('Application');
    expect(snapshot.resources.map(({name}) => name)).toEqual(['front']);
    expect(snapshot.settings).toMatchObject({argocdVersion: 'v2.14.21', trackingMethod: 'annotation', lastCommit: {time: '2026-01-01T00:00:00Z'}});
    expect(posted.body).toContain('"weight":1.0,"id":9007199254740993');
    expect(posted.body).not.toContain('normalizedLive');
    expect(loaded.missing.join()).toContain('the AppProject default');
    expect(loaded.snapshot).toBe(posted.body);
    expect(loaded.argocdVersion).toBe('v2.14.21');
    expect(loaded.partial).toBe(false);
  });

  it('posts Synced resources when they are asked for', async () => {
    const log = network({...argoCD(), [`${base}capabilities`]: {body: capabilities}, [`${base}classify`]: {body: edited}});
    await load(app, {all: true});
    expect((JSON.parse(log.find(({url}) => url.endsWith('classify'))!.body) as {resources: unknown[]}).resources).toHaveLength(2);
  });

  it('leaves resources out that are more than the backend takes, and says so', async () => {
    const small = {...capabilities, limits: {...capabilities.limits, bodyBytes: 1900}};
    network({...argoCD(), [`${base}capabilities`]: {body: small}, [`${base}classify`]: {body: edited}});
    const loaded = await load(app, {all: true});
    expect(loaded.missing.join()).toMatch(/lacks \d of 2 resources/);
    expect(loaded.partial).toBe(true);
    expect(loaded.snapshot!.length).toBeLessThan(1900);
  });

  it('asks only the own origin, by relative URLs', async () => {
    const log = network({...argoCD(), [`${base}capabilities`]: {body: capabilities}, [`${base}classify`]: {body: edited}});
    await load(app);
    expect(log.filter(({url}) => !/^(api|extensions)\//.test(url))).toEqual([]);
  });
});

describe('the backend feed', () => {
  const both = {...capabilities, feeds: ['browser', 'backend']};

  it('is taken where it is offered', async () => {
    const log = network({[`${base}capabilities`]: {body: both}, [`${base}report`]: {body: edited}});
    expect((await load(app)).feed).toBe('backend');
    expect(log.map(({url}) => url)).toEqual([`${base}capabilities`, `${base}report`]);
  });

  it('gives way to the browser where the token is gone', async () => {
    network({...argoCD(), [`${base}capabilities`]: {body: both}, [`${base}report`]: {status: 501, body: {error: 'no token'}}, [`${base}classify`]: {body: edited}});
    expect((await load(app)).feed).toBe('browser');
  });
});

it('sends rules with the snapshot as it was posted', async () => {
  const log = network({[`${base}fixes/prove`]: {body: {hides: [], remaining: 0, synced: true, covers: [], coversTotal: 0}}});
  await prove(app, [{kind: 'Deployment', jsonPointers: ['/spec/replicas']}], '{"application":{"x":1.0}}');
  expect(log[0]!.body).toBe('{"snapshot":{"application":{"x":1.0}},"rules":[{"kind":"Deployment","jsonPointers":["/spec/replicas"]}]}');
});

it('takes the login page of a proxy for the end of the session', async () => {
  network({...argoCD(), [`${base}capabilities`]: {body: capabilities}, 'api/v1/applications/shop?': {body: '<html>log in</html>', type: 'text/html'}});
  await expect(load(app)).rejects.toMatchObject({trouble: 'sessionOver'});
});

describe('the list of Applications', () => {
  // What argocd-server v2.14.21 and v3.1.16 can leave the rest out by (appFields in
  // pkg/apiclient/application/forwarder_overwrite.go); they pass over any other name.
  const known = ['metadata.name', 'metadata.namespace', 'metadata.annotations', 'metadata.labels', 'metadata.creationTimestamp', 'metadata.deletionTimestamp', 'spec', 'status.sync.status', 'status.health', 'status.summary', 'status.operationState.startedAt', 'status.operationState.finishedAt', 'status.resources', 'operation.sync', 'status.operationState.phase', 'status.operationState.operation.sync'];

  it('asks for parts that every Argo CD knows', async () => {
    const log = network({'api/v1/applications?': {body: {items: []}}});
    await listApplications();
    const fields = new URLSearchParams(log[0]!.url.split('?')[1]).get('fields')!.split(',');
    expect(fields.filter((field) => !known.includes(field.replace('items.', '')))).toEqual([]);
    expect(fields).toContain('items.spec');
  });

  it('is empty where there are none, and passes over what is none', async () => {
    network({'api/v1/applications?': {body: {items: null}}});
    expect(await listApplications()).toEqual([]);
    network({'api/v1/applications?': {body: {items: [null, {}, {metadata: {name: 'shop'}, spec: {project: 'web', source: {helm: {values: 'long'}}}}]}}});
    expect(await listApplications()).toEqual([{metadata: {name: 'shop'}, spec: {project: 'web'}, status: undefined}]);
  });
});

describe('an answer of another version', () => {
  it('is read though lists are null and members are missing', () => {
    const answer = tidyAnswer({report: {verdict: 'x', findings: [null, {fields: null}, {resource: {kind: 'Pod'}, fields: [null, {pointer: '/a', live: 1, owner: {}}, {pointer: '/b', target: null, owner: {manager: 'x', time: 7}}], fixes: [{proven: true}], evidence: [1, 'seen'], novel: {kept: true}}]}});
    expect(answer?.report.findings).toHaveLength(2);
    const [bare, other] = answer!.report.findings;
    expect(bare).toMatchObject({mechanism: '', sync: '', fields: [], evidence: [], fixes: [], resource: {kind: '', name: ''}, flagged: true});
    expect(other).toMatchObject({evidence: ['seen'], fixes: [{kind: '', why: '', snippet: '', proven: true}], novel: {kept: true}});
    expect(other!.fields[0]).toEqual({pointer: '/a', live: 1});
    expect(other!.fields[1]).toMatchObject({target: null, owner: {manager: 'x', operation: ''}});
  });

  it.each([null, 'x', [], {}, {report: null}, {report: {verdict: 'x', findings: null}}])('is none where there is no report: %j', (given) => {
    expect(tidyAnswer(given)).toBeUndefined();
  });

  it('about ignore rules is read so too', () => {
    expect(tidyPreview({hides: [{pointer: '/a', resource: null}], covers: null})).toMatchObject({hides: [{pointer: '/a', resource: {kind: ''}}], covers: [], coversTotal: 0, remaining: 0, synced: false});
    expect(tidyPreview({hides: null})).toBeUndefined();
  });
});
