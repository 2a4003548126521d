// One report for all surfaces that show the same Application: the chip in the status
// panel, its fly-out and the resource tabs. Argo CD's page draws them again and again,
// and every report costs requests, so one is kept until the Application has changed.
import * as React from 'react';
import {load, nameOf} from '../api';
import type {Loaded} from '../api';
import {asTrouble} from '../errors';
import type {MoorpinError} from '../errors';
import type {Application} from '../types';

/** What is known of an Application's report. */
export interface Shared {
  loaded?: Loaded;
  error?: MoorpinError;
  /** Being asked for, for the first time or again. */
  loading: boolean;
  /** What is under way, as a sentence without its full stop. */
  step?: string;
}

interface Kept extends Shared {
  /** Of which state of the Application was asked last, and of which the report is. */
  of: string;
  made?: string;
  at: number;
}

/** For how many Applications a report is kept, and how many characters of their snapshots. */
const mostKept = 20;
const mostCharacters = 64_000_000;
/** A report is asked for anew when the Application has changed, but not more often than this. */
const calm = 15_000;
/** How long a report is good while the Application stays the same. */
const good = 5 * 60_000;

const kept = new Map<string, Kept>();
/** Who is told of changes, and which report each of them shows. */
const listeners = new Map<() => void, string>();

/** Forgets all reports; for tests. */
export function forgetReports(): void {
  kept.clear();
}

/** What of an Application makes its report another. */
export function stateOf(app: Application): string {
  const {sync, resources, conditions, operationState} = app.status ?? {};
  const seen = (resources ?? []).map(({group, kind, namespace, name, status, requiresPruning}) => [group, kind, namespace, name, status, requiresPruning]);
  return JSON.stringify([app.spec, sync, seen, conditions?.map(({type, message}) => [type, message]), operationState?.phase, operationState?.finishedAt]);
}

function keyOf(app: Application, all: boolean): string {
  return `${all ? 'all of ' : ''}${nameOf(app)}`;
}

function put(key: string, value: Kept): void {
  kept.delete(key);
  kept.set(key, value);
  let characters = Array.from(kept.values()).reduce((sum, {loaded}) => sum + sizeOf(loaded), 0);
  // What is shown is not given up: it would be asked for again at once.
  const shown = new Set([key, ...listeners.values()]);
  for (const [oldest, {loaded}] of kept) {
    if (kept.size <= mostKept && characters <= mostCharacters) {
      break;
    }
    if (!shown.has(oldest)) {
      characters -= sizeOf(loaded);
      kept.delete(oldest);
    }
  }
  listeners.forEach((_, listener) => listener());
}

function sizeOf(loaded: Loaded | undefined): number {
  return loaded?.snapshot?.length ?? 0;
}

/** Asks for the report, unless it is being asked for. */
export function refresh(app: Application, all = false): void {
  const key = keyOf(app, all);
  const last = kept.get(key);
  if (last?.loading === true) {
    return;
  }
  const of = stateOf(app);
  const asking: Kept = {...last, loading: true, of, at: Date.now(), step: undefined};
  put(key, asking);
  load(app, {all, progress: (step) => put(key, {...asking, step})}).then(
    (loaded) => put(key, {loaded, loading: false, of, made: of, at: Date.now()}),
    (thrown: unknown) => put(key, {loaded: last?.loaded, made: last?.made, error: asTrouble(thrown), loading: false, of, at: Date.now()}),
  );
}

/** How long until the report has to be asked for anew, in milliseconds; 0 is now. */
export function dueIn(known: Pick<Kept, 'at' | 'of' | 'loading'> | undefined, state: string, now: number): number {
  if (known === undefined) {
    return 0;
  }
  if (known.loading) {
    return good;
  }
  return Math.max(0, known.at + (known.of === state ? good : calm) - now);
}

interface Wanted {
  /** Ask for the report; without it, only what is known already is shown. */
  ask: boolean;
  /** Also of the resources that Argo CD calls Synced. */
  all?: boolean;
  /** Until that report is there, show the other one: with or without those resources. */
  meanwhile?: boolean;
}

interface Used extends Shared {
  /** The Application has changed since the report was made. */
  stale: boolean;
  again: () => void;
}

/** The Application's report, kept fresh while the component is on the page. */
export function useReport(app: Application, {ask, all = false, meanwhile = false}: Wanted): Used {
  const [, redraw] = React.useState({});
  const key = keyOf(app, all);
  React.useEffect(() => {
    const listener = (): void => redraw({});
    listeners.set(listener, key);
    return () => {
      listeners.delete(listener);
    };
  }, [key]);
  const known = kept.get(key);
  const state = React.useMemo(() => stateOf(app), [app]);
  const due = ask ? dueIn(known, state, Date.now()) : undefined;
  const latest = React.useRef(app);
  latest.current = app;
  React.useEffect(() => {
    if (due === undefined) {
      return undefined;
    }
    if (due === 0) {
      refresh(latest.current, all);
      return undefined;
    }
    const timer = window.setTimeout(() => refresh(latest.current, all), due);
    return () => window.clearTimeout(timer);
    // `due` counts down with every drawing; what matters is of what it counts.
  }, [key, state, ask, all, known?.at, known?.loading]);
  const shown = known?.loaded === undefined && meanwhile ? kept.get(keyOf(app, !all)) : known;
  return {
    loaded: shown?.loaded,
    error: known?.error,
    loading: known?.loading === true || (ask && known === undefined),
    step: known?.step,
    stale: shown?.loaded !== undefined && shown.made !== state,
    again: () => refresh(latest.current, all),
  };
}
