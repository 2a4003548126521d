// The snapshot of an Application, collected in the browser with the user's own rights.
//
// It is written as text: what Argo CD sends of each object is JSON already, and stays
// as it was written, because JavaScript would spell its numbers anew. Only the
// Application and its resources must be there; what else cannot be had is left out and
// said so.
import {asTrouble, isAbort, MoorpinError} from './errors';
import {ask} from './http';
import {relatedTexts} from './related';
import {settingsOf} from './settings';
import type {Application, ResourceStatus, Tree} from './types';

export interface Collected {
  /** The snapshot as JSON. */
  text: string;
  missing: string[];
  /** Whether resources had to be left out. */
  partial: boolean;
  argocdVersion?: string;
}

export interface CollectOptions {
  all?: boolean;
  signal?: AbortSignal;
  progress?: (step: string) => void;
  /** How large the snapshot may be. */
  mostBytes: number;
}

/** One managed resource, its sides as the JSON that Argo CD sent. */
export interface Managed {
  group?: string;
  kind: string;
  namespace?: string;
  name: string;
  targetState?: string;
  liveState?: string;
  normalizedLiveState?: string;
  predictedLiveState?: string;
}

/** What the parts of collecting share. */
export interface Collecting {
  app: Application;
  tree: Tree;
  /** Asks something of this Application. */
  about: (below: string, query?: {[name: string]: string}) => Promise<string>;
  /** Asks something of Argo CD. */
  argo: (path: string) => Promise<string>;
  /** Waits for what may be missing; notes why it is. */
  perhaps: <T>(what: string, wanted: Promise<T>) => Promise<T | undefined>;
}

/** Collects the snapshot of an Application. */
export async function collect(given: Application, options: CollectOptions): Promise<Collected> {
  const {signal, progress} = options;
  const missing: string[] = [];
  const {name, namespace} = given.metadata;
  const about = (below: string, query: {[name: string]: string} = {}): Promise<string> => {
    const all = new URLSearchParams(namespace === undefined ? query : {...query, appNamespace: namespace});
    return ask(`api/v1/applications/${encodeURIComponent(name)}${below}?${all.toString()}`, {signal});
  };
  const perhaps = async <T>(what: string, wanted: Promise<T>): Promise<T | undefined> => {
    try {
      return await wanted;
    } catch (thrown) {
      if (isAbort(thrown)) {
        throw thrown;
      }
      missing.push(`The snapshot lacks ${what}: ${asTrouble(thrown).message}`);
      return undefined;
    }
  };
  progress?.('Reading the Application and its resources');
  // All three are asked for at once. What of them fails is looked at below.
  const managedText = about('/managed-resources');
  managedText.catch(() => undefined);
  const [appText, tree] = await Promise.all([about(''), perhaps('the resource tree', about('/resource-tree'))]);
  const app = JSON.parse(appText) as Application;
  const managed = await resources(app, managedText, missing);
  const collecting: Collecting = {app, about, perhaps, tree: tree === undefined ? {} : ((JSON.parse(tree) as Tree | null) ?? {}), argo: (path) => ask(path, {signal})};
  progress?.('Reading what explains them');
  const [settings, further] = await Promise.all([settingsOf(collecting), relatedTexts(collecting)]);
  const entries = [...wanted(app, managed ?? [], options.all === true).map(entryText), ...further.hooks];
  const {text, left} = fitted({app: appText, entries, settings: settings.text, ...further}, options.mostBytes);
  if (left > 0) {
    missing.push(`The snapshot lacks ${left} of ${entries.length} resources: all are more than the backend takes.`);
  }
  return {text, missing, partial: left > 0 || managed === undefined, argocdVersion: settings.argocdVersion};
}

/** The managed resources; undefined where Argo CD itself says why it cannot compare. */
async function resources(app: Application, answer: Promise<string>, missing: string[]): Promise<Managed[] | undefined> {
  try {
    const parsed = JSON.parse(await answer) as {items?: Managed[]};
    return parsed.items ?? [];
  } catch (thrown) {
    const explained = (app.status?.conditions ?? []).some((condition) => condition.type?.endsWith('Error') === true);
    if (!(thrown instanceof MoorpinError) || thrown.status < 500 || !explained) {
      throw thrown;
    }
    missing.push(`The snapshot lacks the resources: ${thrown.message}`);
    return undefined;
  }
}

/** What has something to explain: differences, and what is not well. */
function wanted(app: Application, managed: Managed[], all: boolean): Managed[] {
  const statuses = app.status?.resources;
  if (all || statuses === undefined) {
    return managed;
  }
  const quiet = new Set(statuses.filter(isQuiet).map(keyOf));
  return managed.filter((resource) => !quiet.has(keyOf(resource)));
}

function isQuiet(status: ResourceStatus): boolean {
  const health = status.health?.status ?? 'Healthy';
  return status.status === 'Synced' && health === 'Healthy' && status.requiresPruning !== true;
}

function keyOf(ref: {group?: string; kind: string; namespace?: string; name: string}): string {
  return [ref.group ?? '', ref.kind, ref.namespace ?? '', ref.name].join('\n');
}

/** One entry of the snapshot's resources. */
export function entryText(resource: Managed & {hook?: boolean}): string {
  const {group = '', kind, namespace = '', name} = resource;
  const head = JSON.stringify({group, kind, namespace, name, ...(resource.hook === true ? {hook: true} : {})});
  const sides = [`"target":${resource.targetState || 'null'}`, `"live":${resource.liveState || 'null'}`];
  for (const [key, state] of [['normalizedLive', resource.normalizedLiveState], ['predictedLive', resource.predictedLiveState]] as const) {
    if (state !== undefined && state !== '' && state !== 'null') {
      sides.push(`"${key}":${state}`);
    }
  }
  return `${head.slice(0, -1)},${sides.join(',')}}`;
}

interface Parts {
  app: string;
  entries: string[];
  related: string[];
  events: string[];
  settings: string;
}

/** The snapshot's text, without the last resources where all would be too much; how many those are. */
function fitted(parts: Parts, mostBytes: number): {text: string; left: number} {
  const application = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application",${withoutKind(parts.app)}`;
  let room = mostBytes - bytesOf(application) - bytesOf(parts.settings) - 1024;
  const taken = (texts: string[]): string[] =>
    texts.filter((text) => {
      const size = bytesOf(text) + 1;
      if (size > room) {
        return false;
      }
      room -= size;
      return true;
    });
  const entries = taken(parts.entries);
  const related = taken(parts.related);
  const events = taken(parts.events);
  const text = `{"application":${application},"resources":[${entries.join(',')}],"related":[${related.join(',')}],"events":[${events.join(',')}],"settings":${parts.settings}}`;
  return {text, left: parts.entries.length - entries.length};
}

/** An object's text without its brace, and without what the API leaves out anyway. */
function withoutKind(text: string): string {
  const object = JSON.parse(text) as Application;
  if (object.kind === undefined && object.apiVersion === undefined) {
    return text.trimStart().slice(1);
  }
  return JSON.stringify({...object, apiVersion: undefined, kind: undefined}).slice(1);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
