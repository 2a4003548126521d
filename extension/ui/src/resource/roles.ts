// Which part a field manager plays: the same table as the backend's, and the tests of
// both read the same file.

import type {Writer} from './owners';

/** The part that a writer plays. */
export type Role = 'nobody' | 'argo' | 'person' | 'applier' | 'controller';

/** Managers behind which a person sits: editors, dashboards, browsers. */
const tools = [
  'kubectl', 'oc', 'node-fetch', 'mozilla', 'dashboard', 'kubernetes-dashboard', 'k9s', 'lens', 'openlens', 'freelens',
  'headlamp', 'octant', 'curl', 'python-requests', 'postmanruntime', 'httpie', 'argocd-server', 'googlecloudconsole',
  'google-cloud-console', 'kubernetes dashboard', 'kubenav', 'skooner', 'komodor', 'monokle', 'podman-desktop',
  'vscode-kubernetes-tools'
];

/** Names of programs that no person sits behind, whatever they begin with. */
const automatic = /-(controller|controller-manager|operator|agent)$/;

/** Managers that write whole manifests from somewhere else. */
const appliers = [
  'kubectl-client-side-apply', 'kubectl-create', 'kubectl-replace', 'before-first-apply', 'helm', 'terraform', 'hashicorp',
  'pulumi', 'kustomize-controller', 'flux', 'kapp', 'skaffold', 'tilt', 'werf', 'fleet', 'ansible', 'openapi-generator',
  'applyset', 'config-sync', 'configsync', 'spinnaker', 'tanka', 'tk', 'devspace', 'okteto', 'garden', 'argocd-autopilot',
  'kubecfg', 'porter', 'octopus'
];

/** People's sub-commands that change single fields. */
const editing = [
  'kubectl-edit', 'kubectl-patch', 'kubectl-set', 'kubectl-scale', 'kubectl-annotate', 'kubectl-label', 'kubectl-rollout',
  'kubectl-autoscale', 'kubectl-taint', 'kubectl-expose', 'kubectl-run', 'kubectl-debug', 'kubectl-cordon'
];

/** Kinds in which Argo CD's API server keeps its own settings and keys. */
const settings = ['Secret', 'ConfigMap'];

/** The part that a manager plays for an object of the kind. */
export function roleOf(writer: Pick<Writer, 'manager' | 'operation'>, kind: string): Role {
  const name = writer.manager.toLowerCase();
  if (name === '') {
    return 'nobody';
  }
  if (name === 'argocd-controller' || (name === 'argocd-application-controller' && kind !== 'Application')) {
    return 'argo';
  }
  if (isOrBegins(name, 'argocd-server') && settings.includes(kind)) {
    return 'controller';
  }
  if (editing.some((prefix) => name.startsWith(prefix))) {
    return 'person';
  }
  if (appliers.some((prefix) => isOrBegins(name, prefix)) || (name === 'kubectl' && writer.operation === 'Apply')) {
    return 'applier';
  }
  if (name.startsWith('kubectl') || (tools.some((tool) => isOrBegins(name, tool)) && !automatic.test(name))) {
    return 'person';
  }
  return 'controller';
}

/** Whether the name is the prefix, or goes on after it with something else than a letter. */
function isOrBegins(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && !/^[a-z]/.test(name.slice(prefix.length));
}
