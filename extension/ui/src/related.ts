// What else a snapshot holds: hooks, the project, objects of the tree that explain a
// difference, events, and the names of Applications that claim the same objects.
import {entryText, type Collecting, type Managed} from './collect';
import type {KubeObject, TreeNode} from './types';

interface Related {
  hooks: string[];
  related: string[];
  events: string[];
}

/** The kinds that explain, with how many are read; of the sick ones only what is not well. */
const explaining: {group: string; kind: string; most: number; sick?: boolean}[] = [
  {group: 'autoscaling', kind: 'HorizontalPodAutoscaler', most: 50},
  {group: 'keda.sh', kind: 'ScaledObject', most: 50},
  {group: 'argoproj.io', kind: 'Rollout', most: 20},
  {group: 'flagger.app', kind: 'Canary', most: 20},
  {group: 'batch', kind: 'Job', most: 20},
  {group: 'apps', kind: 'ReplicaSet', most: 10, sick: true},
  {group: '', kind: 'Pod', most: 10, sick: true},
];

/** Of how many unhealthy objects the events are asked for, and how many hooks are read. */
const mostEventful = 10;
const mostHooks = 30;
/** How many requests are under way at once; a browser sends no more anyway. */
const parallel = 6;

/** All that a snapshot holds beside the managed resources. */
export async function relatedTexts(collecting: Collecting): Promise<Related> {
  const [hooks, project, objects, events] = await Promise.all([hooksOf(collecting), projectOf(collecting), objectsOf(collecting), eventsOf(collecting)]);
  return {hooks, related: [...project, ...objects, ...neighbours(collecting)], events};
}

function nodesOf({tree}: Collecting): TreeNode[] {
  return [...(tree.nodes ?? []), ...(tree.orphanedNodes ?? [])];
}

function isWell(node: TreeNode): boolean {
  return node.health?.status === 'Healthy';
}

async function projectOf({app, argo, perhaps}: Collecting): Promise<string[]> {
  const name = app.spec?.project || 'default';
  const found = await perhaps(`the AppProject ${name}`, argo(`api/v1/projects/${encodeURIComponent(name)}`));
  return found === undefined ? [] : [JSON.stringify({...(JSON.parse(found) as KubeObject), apiVersion: 'argoproj.io/v1alpha1', kind: 'AppProject'})];
}

async function objectsOf(collecting: Collecting): Promise<string[]> {
  const managed = new Set((collecting.app.status?.resources ?? []).filter((r) => r.status !== 'Synced').map((r) => `${r.kind}/${r.namespace ?? ''}/${r.name}`));
  const nodes = explaining.flatMap(({group, kind, most, sick}) =>
    nodesOf(collecting)
      .filter((n) => (n.group ?? '') === group && n.kind === kind && !(sick === true && isWell(n)) && !managed.has(`${kind}/${n.namespace ?? ''}/${n.name}`))
      .sort((a, b) => Number(isWell(a)) - Number(isWell(b)))
      .slice(0, most),
  );
  const found = await each(nodes, (node) => collecting.perhaps(`the ${node.kind} ${node.name}`, liveOf(collecting, node)));
  return found.filter((text): text is string => text !== undefined && text !== '');
}

/** The live object of a node, as JSON. */
async function liveOf({about}: Collecting, node: TreeNode): Promise<string> {
  const query: {[name: string]: string} = {resourceName: node.name, version: node.version ?? '', kind: node.kind, group: node.group ?? '', namespace: node.namespace ?? ''};
  return (JSON.parse(await about('/resource', query)) as {manifest?: string}).manifest ?? '';
}

async function eventsOf(collecting: Collecting): Promise<string[]> {
  const sick = nodesOf(collecting)
    .filter((node) => node.uid !== undefined && node.health?.status !== undefined && !isWell(node))
    .slice(0, mostEventful);
  const queries: {[name: string]: string}[] = [{}, ...sick.map((node) => ({resourceName: node.name, resourceNamespace: node.namespace ?? '', resourceUID: node.uid ?? ''}))];
  const found = await each(queries, (query) => collecting.perhaps('some events', collecting.about('/events', query)));
  const seen = new Set<string>();
  return found.flatMap((text) => {
    const items = text === undefined ? [] : ((JSON.parse(text) as {items?: KubeObject[] | null}).items ?? []);
    return items.map(eventText).filter((event) => !seen.has(event) && seen.add(event));
  });
}

function eventText(event: KubeObject): string {
  const metadata = event.metadata as KubeObject | undefined;
  return JSON.stringify({...event, metadata: {...metadata, managedFields: undefined}, apiVersion: 'v1', kind: 'Event'});
}

/** The hooks that the status or the last operation names, with what Git renders and what is left. */
async function hooksOf(collecting: Collecting): Promise<string[]> {
  const {app, about, perhaps} = collecting;
  const named = new Map<string, TreeNode>();
  for (const r of [...(app.status?.resources ?? []).filter((entry) => entry.hook === true), ...(app.status?.operationState?.syncResult?.resources ?? []).filter((entry) => entry.hookType)]) {
    if (r.kind !== undefined && r.name !== undefined) {
      named.set([r.group, r.kind, r.namespace, r.name].join('\n'), {group: r.group, version: r.version, kind: r.kind, namespace: r.namespace, name: r.name});
    }
  }
  if (named.size === 0) {
    return [];
  }
  const rendered = await perhaps('what Git renders of the hooks', about('/manifests'));
  const manifests = rendered === undefined ? [] : ((JSON.parse(rendered) as {manifests?: string[]}).manifests ?? []);
  const nodes = nodesOf(collecting);
  return each([...named.values()].slice(0, mostHooks), async (hook) => {
    const node = nodes.find((n) => n.kind === hook.kind && n.name === hook.name && (n.namespace ?? '') === (hook.namespace ?? '') && (n.group ?? '') === (hook.group ?? ''));
    const liveState = node === undefined ? undefined : await perhaps(`the live hook ${hook.name}`, liveOf(collecting, node));
    const entry: Managed & {hook: boolean} = {...hook, hook: true, targetState: manifests.find((text) => renders(text, hook)), liveState};
    return entryText(entry);
  });
}

/** Whether a manifest is where a hook comes from; the sync may have named it to the end. */
function renders(text: string, hook: TreeNode): boolean {
  const manifest = JSON.parse(text) as {apiVersion?: string; kind?: string; metadata?: {name?: string; generateName?: string; namespace?: string; annotations?: {[name: string]: string}}};
  const {name, generateName, namespace, annotations = {}} = manifest.metadata ?? {};
  const group = manifest.apiVersion?.includes('/') === true ? manifest.apiVersion.split('/')[0] : '';
  if (!annotations['argocd.argoproj.io/hook'] && !annotations['helm.sh/hook']) {
    return false;
  }
  if (group !== (hook.group ?? '') || manifest.kind !== hook.kind || (namespace !== undefined && namespace !== hook.namespace)) {
    return false;
  }
  return name === hook.name || (!name && !!generateName && hook.name.startsWith(generateName));
}

/** Other Applications that claim a resource too, by name only: the user may not see more of them. */
function neighbours({app}: Collecting): string[] {
  const home = app.metadata.namespace ?? '';
  const names = (app.status?.conditions ?? [])
    .filter((condition) => condition.type === 'SharedResourceWarning')
    .flatMap((condition) => condition.message?.split(' is part of applications ')[1]?.split(' and ') ?? [])
    .map((claimant) => (claimant.includes('/') ? claimant : `${home}/${claimant}`))
    .filter((claimant) => claimant !== `${home}/${app.metadata.name}`);
  return [...new Set(names)].map((claimant) => {
    const [namespace, name] = claimant.split('/');
    return JSON.stringify({apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: {namespace, name}});
  });
}

/** Does something for each item, some at once, and gives the results in the items' order. */
export async function each<T, R>(items: T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const i = next++;
      results[i] = await act(items[i] as T);
    }
  };
  await Promise.all(Array.from({length: Math.min(parallel, items.length)}, worker));
  return results;
}
