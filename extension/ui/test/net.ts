// What stands for the network in tests: the first answer that fits a request is given,
// and every request is noted.
import {vi} from 'vitest';

export interface Asked {
  method: string;
  url: string;
  headers: {[name: string]: string};
  body: string;
}

export interface Given {
  status?: number;
  /** Text, or what is to become JSON. */
  body?: unknown;
  type?: string;
  headers?: {[name: string]: string};
}

/** Gives answers by the beginning of the URL; what has none is a failure of the network. */
export function network(answers: {[start: string]: Given | ((asked: Asked) => Given | Promise<Given>)}): Asked[] {
  const log: Asked[] = [];
  vi.stubGlobal('fetch', async (url: string, request: RequestInit = {}) => {
    const asked: Asked = {method: request.method ?? 'GET', url, headers: (request.headers ?? {}) as Asked['headers'], body: String(request.body ?? '')};
    log.push(asked);
    const start = Object.keys(answers)
      .sort((a, b) => b.length - a.length)
      .find((candidate) => url.startsWith(candidate));
    if (start === undefined) {
      throw new TypeError('Failed to fetch');
    }
    const answer = answers[start]!;
    const given = typeof answer === 'function' ? await answer(asked) : answer;
    if (request.signal?.aborted) {
      throw new DOMException('aborted', 'AbortError');
    }
    const isText = typeof given.body === 'string';
    const type = given.type ?? (isText ? 'text/plain' : 'application/json');
    return new Response(isText ? (given.body as string) : JSON.stringify(given.body ?? {}), {status: given.status ?? 200, headers: {'Content-Type': type, ...given.headers}});
  });
  return log;
}

export const capabilities = {version: 'v1.0.0', argocdVersion: 'v2.14.21', feeds: ['browser'], limits: {bodyBytes: 33_554_432, depth: 200, values: 1, seconds: 9, rules: 20}};

/** Argo CD's own answers about an Application that has one OutOfSync and one Synced Deployment. */
export function argoCD(): {[start: string]: Given} {
  const app = {
    metadata: {name: 'shop', namespace: 'argocd'},
    spec: {project: 'default'},
    status: {
      sync: {status: 'OutOfSync', revision: 'a'.repeat(40)},
      reconciledAt: '2026-01-01T00:00:00Z',
      resources: [
        {group: 'apps', kind: 'Deployment', namespace: 'web', name: 'front', status: 'OutOfSync', health: {status: 'Healthy'}},
        {group: 'apps', kind: 'Deployment', namespace: 'web', name: 'back', status: 'Synced', health: {status: 'Healthy'}},
      ],
    },
  };
  const state = (name: string): string => `{"kind":"Deployment","metadata":{"name":"${name}"},"spec":{"weight":1.0,"id":9007199254740993}}`;
  const managed = ['front', 'back'].map((name) => ({group: 'apps', kind: 'Deployment', namespace: 'web', name, targetState: state(name), liveState: state(name), normalizedLiveState: '', predictedLiveState: 'null'}));
  return {
    'api/v1/applications/shop?': {body: app},
    'api/v1/applications/shop/managed-resources?': {body: {items: managed}},
    'api/v1/applications/shop/resource-tree?': {body: {nodes: []}},
    'api/v1/applications/shop/events?': {body: {items: null}},
    'api/v1/applications/shop/revisions/': {body: {date: '2026-01-01T00:00:00Z'}},
    'api/v1/projects/default': {status: 403, body: {error: 'permission denied', message: 'permission denied', code: 7}},
    'api/v1/settings': {body: {appLabelKey: 'app.kubernetes.io/instance', trackingMethod: 'annotation'}},
    'api/version': {body: {Version: 'v2.14.21+abc'}},
  };
}
