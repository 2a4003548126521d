// Asks about many Applications, a few at a time, so that neither Argo CD nor the
// backend feels it, and waits when either says that it is busy.
import {MoorpinError} from '../errors';

export interface Queue<T, R> {
  items: T[];
  /** How many are asked about at once. */
  atOnce: number;
  ask: (item: T) => Promise<R>;
  /** Told of each answer or error as it comes, not after the signal; says whether to go on. */
  done: (item: T, result: R | undefined, error: unknown) => boolean;
  signal: AbortSignal;
  /** How long to wait, in milliseconds; tests bring their own. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** How often an item is asked about again after a busy answer. */
const mostRetries = 3;

/** Asks about all items; ends early when the signal says so, never with an error. */
export async function run<T, R>(queue: Queue<T, R>): Promise<void> {
  const open = queue.items.slice();
  const worker = async (): Promise<void> => {
    for (let item = open.shift(); item !== undefined && !queue.signal.aborted; item = open.shift()) {
      let result: R | undefined;
      let error: unknown;
      try {
        result = await patiently(queue, item);
      } catch (caught) {
        error = caught;
      }
      if (!queue.signal.aborted && !queue.done(item, result, error)) {
        open.length = 0;
      }
    }
  };
  await Promise.all(Array.from({length: Math.max(1, queue.atOnce)}, worker));
}

/** Asks, and asks again after a while where the answer was that it is busy. */
async function patiently<T, R>(queue: Queue<T, R>, item: T): Promise<R> {
  const wait = queue.wait ?? pause;
  for (let tried = 0; ; tried++) {
    try {
      return await queue.ask(item);
    } catch (error) {
      const busy = error instanceof MoorpinError && error.trouble === 'busy';
      if (!busy || tried === mostRetries || queue.signal.aborted) {
        throw error;
      }
      await wait(Math.max(1, error.retryAfter) * 1000 * (tried + 1), queue.signal);
    }
  }
}

/** Waits, at most until the signal. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = window.setTimeout(end, milliseconds);
    function end(): void {
      window.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end);
  });
}
