// What the views ask: the report of an Application by either feed, trials of ignore
// rules, and Argo CD's own list of Applications.
//
// The feed "browser" collects with the user's own rights and posts what was found; the
// feed "backend" asks the backend, which collects with a token of its own and sees the
// destination's objects too. The backend says which of the two it offers.
import {collect, type Collected} from './collect';
import {MoorpinError} from './errors';
import {ask, type Request} from './http';
import {tidyAnswer, tidyPreview} from './tidy';
import type {Answer, Application, Capabilities, Feed, IgnoreRule, Json, Preview} from './types';

export {MoorpinError} from './errors';
export type {Trouble} from './errors';

/** What a view gets: the answer, and what it was made from, which the editor posts again. */
export interface Loaded {
  answer: Answer;
  capabilities: Capabilities;
  feed: Feed;
  /** When the report was made, RFC 3339. */
  at: string;
  /** The running Argo CD's version, where it is known. */
  argocdVersion?: string;
  /** Whether Synced resources were looked into as well. */
  all: boolean;
  /** Whether resources had to be left out. */
  partial: boolean;
  /** The posted snapshot, as JSON text; absent with the backend feed. */
  snapshot?: string;
  /** What the browser could not have, one sentence each. */
  missing: string[];
}

export interface LoadOptions {
  /** Collect Synced resources too, for what Argo CD does not flag. */
  all?: boolean;
  /** Which feed to use; default the backend's where it is offered. */
  feed?: Feed;
  signal?: AbortSignal;
  /** Told what is under way, as a sentence without its full stop. */
  progress?: (step: string) => void;
}

/** How long a backend's word about itself is taken for unchanged. */
const capableFor = 60_000;
let known: {at: number; answer: Capabilities} | undefined;

/** Forgets what is known of the backend; for a retry, and for tests. */
export function forget(): void {
  known = undefined;
}

/** What the backend can do. */
export async function capabilities(app: Application, signal?: AbortSignal): Promise<Capabilities> {
  if (known !== undefined && Date.now() - known.at < capableFor) {
    return known.answer;
  }
  const found = (await backend(app, 'capabilities', {signal})) as Capabilities | null;
  if (!Array.isArray(found?.feeds) || typeof found?.limits?.bodyBytes !== 'number') {
    throw skewed('what it can do');
  }
  known = {at: Date.now(), answer: found};
  return found;
}

/** The report of an Application. */
export async function load(app: Application, options: LoadOptions = {}): Promise<Loaded> {
  const {signal, progress} = options;
  progress?.('Asking what the backend can do');
  const capable = await capabilities(app, signal);
  const feed = options.feed ?? (capable.feeds.includes('backend') ? 'backend' : 'browser');
  if (feed === 'backend') {
    try {
      progress?.('Waiting for the report');
      const answer = checked(await backend(app, 'report', {signal}));
      return {answer, capabilities: capable, feed, at: answer.collectedAt ?? now(), argocdVersion: capable.argocdVersion, all: true, partial: false, missing: []};
    } catch (thrown) {
      if (!(thrown instanceof MoorpinError) || thrown.trouble !== 'noToken') {
        throw thrown;
      }
    }
  }
  const collected = await collect(app, {all: options.all, signal, progress, mostBytes: capable.limits.bodyBytes});
  progress?.('Waiting for the report');
  const at = now();
  const answer = checked(await backend(app, 'classify', {method: 'POST', body: collected.text, signal}));
  const {text: snapshot, missing, partial, argocdVersion = capable.argocdVersion} = collected;
  return {answer, capabilities: capable, feed: 'browser', at, argocdVersion, all: options.all === true, partial, snapshot, missing};
}

function now(): string {
  return new Date().toISOString();
}

/** What further ignore rules would do; the backend collects where there is no snapshot. */
export async function prove(app: Application, rules: IgnoreRule[], snapshot?: string, signal?: AbortSignal): Promise<Preview> {
  const body = `{${snapshot === undefined ? '' : `"snapshot":${snapshot},`}"rules":${JSON.stringify(rules)}}`;
  const preview = tidyPreview(await backend(app, 'fixes/prove', {method: 'POST', body, signal}));
  if (preview === undefined) {
    throw skewed('its answer about ignore rules');
  }
  return preview;
}

/** Something of Argo CD's own API, by a path such as "api/v1/applications". */
export async function argo(path: string, query: {[name: string]: string} = {}, signal?: AbortSignal): Promise<Json> {
  const asked = new URLSearchParams(query).toString();
  return JSON.parse(await ask(asked === '' ? path : `${path}?${asked}`, {signal})) as Json;
}

/**
 * The parts of an Application that a list of them needs. Argo CD knows few names of parts,
 * and leaves out without a word what it does not know: in most releases the project comes
 * with all of spec alone.
 */
const listFields = ['items.metadata.name', 'items.metadata.namespace', 'items.spec', 'items.status.sync.status', 'items.status.health', 'items.status.operationState.finishedAt'].join(',');

/** All Applications that the user may see, without their resources. */
export async function listApplications(signal?: AbortSignal): Promise<Application[]> {
  const answer = await argo('api/v1/applications', {fields: listFields}, signal);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) {
    throw new MoorpinError('refused', 'Argo CD sent no list of Applications.');
  }
  const items = (Array.isArray(answer.items) ? answer.items : []) as unknown as (Application | null)[];
  // Of each no more is kept than is shown: there may be thousands.
  return items.flatMap((app) => (typeof app?.metadata?.name === 'string' ? [{metadata: app.metadata, spec: {project: app.spec?.project}, status: app.status}] : []));
}

/** The full name of an Application, as reports and links have it. */
export function nameOf(app: Application): string {
  return `${app.metadata.namespace ?? 'argocd'}/${app.metadata.name}`;
}

/** Asks the backend about one Application, through Argo CD's proxy. */
async function backend(app: Application, path: string, request: Request): Promise<unknown> {
  const headers: {[name: string]: string} = {
    'Argocd-Application-Name': `${app.metadata.namespace ?? 'argocd'}:${app.metadata.name}`,
    'Argocd-Project-Name': app.spec?.project || 'default',
  };
  if (request.body !== undefined) {
    headers['Content-Type'] = 'application/json';
  }
  const text = await ask(`extensions/moorpin/api/v1/${path}`, {...request, headers});
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw skewed('its answer');
  }
}

/** The answer, if it is one that this page can read. */
function checked(given: unknown): Answer {
  const answer = tidyAnswer(given);
  if (answer === undefined) {
    throw skewed('its report');
  }
  return answer;
}

function skewed(what: string): MoorpinError {
  return new MoorpinError('versionSkew', `The backend is of another version: this page cannot read ${what}.`);
}

export type {Collected};
