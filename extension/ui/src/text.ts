// The words of the page: labels, times, names of objects. Whatever comes from a cluster
// is data: show makes its control and direction characters visible.
import {fixTitles, mechanismTitles} from './mechanisms';
import type {Confidence, Field, Finding, Json, Owner, ResourceRef, Sync, Where} from './types';

/** The effects of a sync, the most harmless first. */
export const effects: Sync[] = [
  'nothing-to-do',
  'noop',
  'harmless-flap',
  'safe',
  'wait',
  'blocked',
  'will-fail',
  'fights-controller',
  'overwrites-live',
  'destructive',
];

const syncLabels: {[effect in Sync]: [short: string, long: string]} = {
  'nothing-to-do': ['Nothing to do', 'There is nothing to sync.'],
  noop: ['Sync changes nothing', 'A sync succeeds and changes nothing.'],
  'harmless-flap': ['Harmless', 'A sync rewrites an equal spelling, which is rewritten back.'],
  safe: ['Safe to sync', 'A sync does what Git says, and nobody loses anything.'],
  wait: ['Wait', 'An operation is running or stuck; a sync has to wait for its end.'],
  blocked: ['Sync is blocked', 'A sync cannot start.'],
  'will-fail': ['Sync will fail', 'A sync starts and ends in an error.'],
  'fights-controller': ['Fights a controller', 'A sync writes what a controller writes back.'],
  'overwrites-live': ['Sync overwrites a change', 'A sync reverts a change that somebody may want.'],
  destructive: ['Sync destroys data', 'A sync deletes or blanks data.'],
};

/** How loud an effect is; the colours of the page follow it. */
export type Tone = 'good' | 'quiet' | 'warn' | 'bad';

/** The icons of what a report says on the whole. */
export const toneIcons: {[tone in Tone]: string} = {bad: 'fa-exclamation-triangle', warn: 'fa-exclamation-circle', good: 'fa-arrow-alt-circle-up', quiet: 'fa-info-circle'};

/** How severe an effect is; an unknown one is the worst. */
export function severity(effect: Sync): number {
  const at = effects.indexOf(effect);
  return at < 0 ? effects.length : at;
}

export function syncLabel(effect: Sync): string {
  return syncLabels[effect]?.[0] ?? show(effect);
}

export function syncSentence(effect: Sync): string {
  return syncLabels[effect]?.[1] ?? `A sync: ${show(effect)}.`;
}

export function syncTone(effect: Sync): Tone {
  const rank = severity(effect);
  if (rank >= severity('overwrites-live')) {
    return 'bad';
  }
  if (rank > severity('safe')) {
    return 'warn';
  }
  return effect === 'safe' ? 'good' : 'quiet';
}

/** Whether a sync would take something away that somebody may want. */
export function loses({sync}: Pick<Finding, 'sync'>): boolean {
  return sync === 'overwrites-live' || sync === 'destructive';
}

/** What neither a sync nor waiting ends, though the one changes nothing: somebody has to look. */
const somebodys = new Set([
  'hidden-live-addition',
  'pending-prune',
  'tracking-label-copied',
  'respect-ignore-blocks-change',
  'unknown-field-pruned',
  'ssa-coowner-residue',
  'duplicate-list-key',
  'hook-stuck',
  'hook-failed',
  'wave-blocked',
  'deletion-stuck',
  'missing-dependency',
  'unhealthy-not-drift',
]);

/** Whether somebody has to decide or do something, other than to sync. */
export function needsAction({sync, mechanism}: Pick<Finding, 'sync' | 'mechanism'>): boolean {
  const tone = syncTone(sync);
  return tone === 'bad' || (tone === 'warn' && sync !== 'wait') || somebodys.has(mechanism);
}

/** By how much something comes first: what needs somebody, then what a sync would do. */
export function urgency(of: Pick<Finding, 'sync' | 'mechanism'>): number {
  return severity(of.sync) + (needsAction(of) ? 100 : 0);
}

export function mechanismLabel(id: string): string {
  return entry(mechanismTitles, id) ?? sentence(id);
}

export function fixLabel(kind: string): string {
  return entry(fixTitles, kind) ?? sentence(kind);
}

/** What a table itself says of an id; what its prototype has is nothing of it. */
function entry(table: {[id: string]: string}, id: string): string | undefined {
  return Object.prototype.hasOwnProperty.call(table, id) ? table[id] : undefined;
}

function sentence(id: string): string {
  const words = show(id).replace(/-/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const places: {[where in Where]: string} = {
  git: 'in Git',
  application: 'in the Application',
  appproject: 'in the AppProject',
  'argocd-cm': 'in argocd-cm',
  cluster: 'in the cluster',
  operation: 'by an operation',
};

export function whereLabel(where: Where): string {
  return entry(places, where) ?? show(where);
}

const confidences: {[grade in Confidence]: [short: string, long: string]} = {
  certain: ['certain', 'It can hardly be otherwise.'],
  likely: ['likely', 'The signs agree; one is missing.'],
  possible: ['possible', 'Nothing speaks against it. Look yourself before you act.'],
};

export function confidenceLabel(grade: Confidence): string {
  return confidences[grade]?.[0] ?? show(grade);
}

export function confidenceSentence(grade: Confidence): string {
  return confidences[grade]?.[1] ?? '';
}

/** Characters that do more than to be seen: controls, directions, joiners, odd spaces. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]|(?! )\p{Zs}/gu;

/** A text that comes from elsewhere, with its invisible characters made visible. */
export function show(text: string): string {
  return String(text).replace(unseen, (found) => (found === '\t' || found === '\n' ? found : found.split('').map(escaped).join('')));
}

/** The same on one line. */
export function line(text: string): string {
  return show(text).replace(/\s*\n\s*/g, ' ').replace(/\t/g, ' ');
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Kind.group namespace/name */
export function resourceName(ref: ResourceRef): string {
  const kind = ref.group ? `${ref.kind}.${ref.group}` : ref.kind;
  return line(`${kind} ${ref.namespace ? `${ref.namespace}/` : ''}${ref.name}`);
}

/** A key for an object, its version aside. */
export function resourceKey(ref: ResourceRef): string {
  return [ref.group ?? '', ref.kind, ref.namespace ?? '', ref.name].join('/');
}

/** A pointer as people write field paths: spec.containers[0].image. */
export function fieldPath(pointer: string): string {
  if (pointer === '') {
    return '(the whole object)';
  }
  return pointer
    .split('/')
    .slice(1)
    .map((raw) => raw.replace(/~1/g, '/').replace(/~0/g, '~'))
    .map((step, i) => {
      if (/^\d+$/.test(step)) {
        return `[${step}]`;
      }
      if (/^[A-Za-z_][\w-]*$/.test(step)) {
        return i === 0 ? step : `.${step}`;
      }
      return `["${line(step)}"]`;
    })
    .join('');
}

/** A side of a field as text; absent and masked sides say so. */
export function sideText(field: Field, side: 'target' | 'live'): string {
  if (!(side in field)) {
    return '(absent)';
  }
  const value = field[side] as Json;
  if (isMasked(value)) {
    return 'target' in field && 'live' in field && field.target !== field.live ? '(hidden, differs)' : '(hidden)';
  }
  return valueText(value);
}

/** Whether a value is what stands for that of a Secret. */
export function isMasked(value: Json | undefined): boolean {
  return typeof value === 'string' && value.length >= 8 && /^\++$/.test(value);
}

/** A value as JSON, its strings with invisible characters made visible. */
export function valueText(value: Json): string {
  return show(JSON.stringify(value, null, typeof value === 'object' && value !== null ? 2 : 0) ?? '');
}

/** Who wrote a field: the manager, and by which way. */
export function ownerText(owner: Owner): string {
  return line(`${owner.manager} (${owner.operation}${owner.subresource ? ` of ${owner.subresource}` : ''})`);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const steps: [limit: number, seconds: number, unit: string][] = [
  [60, 1, 'second'],
  [3600, 60, 'minute'],
  [86_400, 3600, 'hour'],
  [30 * 86_400, 86_400, 'day'],
  [365 * 86_400, 30 * 86_400, 'month'],
  [Infinity, 365 * 86_400, 'year'],
];

/** How long ago a time is, in one unit; "" for what is no time. */
export function relativeTime(time: string | undefined, now: number = Date.now()): string {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) {
    return '';
  }
  const seconds = Math.round((now - at) / 1000);
  const size = Math.abs(seconds);
  if (size < 10) {
    return 'just now';
  }
  const [, per, unit] = steps.find(([limit]) => size < limit) ?? [0, 1, 'second'];
  const amount = plural(Math.floor(size / per), unit);
  return seconds < 0 ? `in ${amount}` : `${amount} ago`;
}

/** A time in the user's zone, to the second, with the zone. */
export function exactTime(time: string | undefined): string {
  const at = new Date(time ?? '');
  if (Number.isNaN(at.getTime())) {
    return '';
  }
  return at.toLocaleString(undefined, {dateStyle: 'medium', timeStyle: 'long'} as Intl.DateTimeFormatOptions);
}
