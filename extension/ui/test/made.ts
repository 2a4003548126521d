// Applications and reports made for the tests of single surfaces.
import type {Loaded} from '../src/api';
import type {Application, Finding, KubeObject, Report, ResourceStatus} from '../src/types';

export function application(name: string, sync: string, resources: ResourceStatus[] = []): Application {
  return {metadata: {name, namespace: 'argocd'}, spec: {project: 'default'}, status: {sync: {status: sync}, health: {status: 'Healthy'}, resources}};
}

export function finding(mechanism: string, more: Partial<Finding> = {}): Finding {
  return {
    resource: {group: 'apps', kind: 'Deployment', namespace: 'web', name: 'front'},
    mechanism,
    class: '',
    flagged: true,
    summary: `Because of ${mechanism}.`,
    fields: [],
    confidence: 'certain',
    evidence: ['it was seen'],
    sync: 'noop',
    fixes: [],
    ...more,
  };
}

export function report(findings: Finding[], more: Partial<Report> = {}): Report {
  const counts: {[mechanism: string]: number} = {};
  findings.forEach(({mechanism}) => (counts[mechanism] = (counts[mechanism] ?? 0) + 1));
  return {application: 'argocd/shop', verdict: 'It is as it is.', counts, findings, sync: 'noop', ...more};
}

export function loaded(made: Report): Loaded {
  return {
    answer: {report: made, version: '1', comparedAt: '2026-01-01T00:00:00Z'},
    capabilities: {version: 'v1', argocdVersion: 'v2.14.21', feeds: ['browser'], limits: {bodyBytes: 1, depth: 1, values: 1, seconds: 1, rules: 1}},
    feed: 'browser',
    at: '2026-01-01T00:01:00Z',
    argocdVersion: 'v2.14.21',
    all: true,
    partial: false,
    missing: [],
  };
}

/** A live Deployment whose replicas a person wrote, and everything else Argo CD. */
export const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'front',
    namespace: 'web',
    managedFields: [
      {manager: 'argocd-controller', operation: 'Apply', time: '2026-01-01T00:00:00Z', fieldsV1: {'f:spec': {'f:paused': {}, 'f:selector': {}}}},
      {manager: 'kubectl-scale', operation: 'Update', subresource: 'scale', time: '2026-02-01T00:00:00Z', fieldsV1: {'f:spec': {'f:replicas': {}}}},
    ],
  },
  spec: {replicas: 5, paused: false, selector: {app: 'front'}, strategy: {type: 'RollingUpdate'}},
  status: {readyReplicas: 5},
};
