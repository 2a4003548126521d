// The work behind the system page: the list of Applications, and the reports of those
// that drift, a few at a time.
import * as React from 'react';
import {listApplications, load} from '../api';
import {asTrouble, isAbort} from '../errors';
import type {MoorpinError, Trouble} from '../errors';
import type {Application} from '../types';
import {forgetAll, recall, remember} from './memory';
import {run} from './queue';
import {countsOf, drifting} from './summary';
import type {Count, Entry} from './summary';

/** How many reports are made at once, and up to how many without being asked to. */
const atOnce = 3;
export const unasked = 30;
/** How often the page is drawn anew while reports come in, in milliseconds. */
const drawEvery = 150;

export interface Fleet {
  entries: Entry[];
  /** The list itself could not be had. */
  error?: MoorpinError;
  listing: boolean;
  /** How far the reports are. */
  done: number;
  total: number;
  running: boolean;
  /** Reads the reports that are missing. */
  read: () => void;
  stop: () => void;
  /** Starts anew: the list, and the reports. */
  again: () => void;
}

/** All Applications that the user sees, with what their reports tell. */
export function useFleet(): Fleet {
  const [entries, setEntries] = React.useState<Entry[]>([]);
  const [listing, setListing] = React.useState(true);
  const [error, setError] = React.useState<MoorpinError | undefined>(undefined);
  const [progress, setProgress] = React.useState({done: 0, total: 0, running: false});
  const running = React.useRef<AbortController | undefined>(undefined);
  const stop = React.useCallback(() => {
    running.current?.abort();
    running.current = undefined;
    setProgress((old) => ({...old, running: false}));
  }, []);
  const read = React.useCallback(
    (known: Entry[]) => {
      stop();
      const controller = new AbortController();
      running.current = controller;
      void readReports(known, {signal: controller.signal, entries: setEntries, progress: setProgress});
    },
    [stop],
  );
  const list = React.useCallback(() => {
    stop();
    const controller = new AbortController();
    running.current = controller;
    setListing(true);
    setError(undefined);
    listApplications(controller.signal).then(
      (apps) => {
        if (controller.signal.aborted) {
          return;
        }
        const found = apps.map((application): Entry => ({application, ...recall(application)}));
        setListing(false);
        setEntries(found);
        if (found.filter(isOpen).length <= unasked) {
          read(found);
        }
      },
      (thrown: unknown) => {
        if (!isAbort(thrown) && !controller.signal.aborted) {
          setListing(false);
          setError(asTrouble(thrown));
        }
      },
    );
  }, [read, stop]);
  React.useEffect(() => {
    list();
    return () => running.current?.abort();
  }, [list]);
  const again = (): void => {
    forgetAll();
    list();
  };
  return {entries, error, listing, ...progress, read: () => read(entries), stop, again};
}

/** Whether there is a report to be asked for. */
export function isOpen(entry: Entry): boolean {
  return drifting(entry.application) && entry.counts === undefined;
}

interface Reading {
  signal: AbortSignal;
  entries: (entries: Entry[]) => void;
  progress: (progress: {done: number; total: number; running: boolean}) => void;
}

/** Asks for the reports; what comes in is drawn together, not one by one. */
async function readReports(known: Entry[], {signal, entries, progress}: Reading): Promise<void> {
  const all = known.map((entry) => ({...entry}));
  const items = all.filter(isOpen);
  let done = 0;
  let timer: number | undefined;
  const draw = (running: boolean): void => {
    window.clearTimeout(timer);
    timer = undefined;
    if (!signal.aborted) {
      entries(all.slice());
      progress({done, total: items.length, running});
    }
  };
  draw(items.length > 0);
  await run<Entry, Count[]>({
    items,
    atOnce,
    signal,
    ask: async (entry) => {
      const {answer} = await load(entry.application, {signal});
      entry.counts = countsOf(answer.report);
      entry.at = Date.now();
      remember(entry.application, entry.counts);
      return entry.counts;
    },
    done: (entry, _, error) => {
      done += 1;
      entry.error = error;
      timer = timer ?? window.setTimeout(() => draw(true), drawEvery);
      return error === undefined || !forAll.has(asTrouble(error).trouble) || all.some((other) => other.counts !== undefined);
    },
  });
  draw(false);
}

/** What one Application meets and all others would meet too. */
const forAll = new Set<Trouble>(['notConfigured', 'noRight', 'backendDown', 'versionSkew', 'sessionOver', 'offline']);

/** What went wrong for all of them in the same way, such as a missing right. */
export function commonError(entries: Entry[]): {error: MoorpinError; app: Application} | undefined {
  const failed = entries.filter((entry) => entry.error !== undefined);
  const first = failed[0];
  if (first === undefined || entries.some((entry) => entry.counts !== undefined)) {
    return undefined;
  }
  const error = asTrouble(first.error);
  return failed.every((entry) => asTrouble(entry.error).trouble === error.trouble) ? {error, app: first.application} : undefined;
}
