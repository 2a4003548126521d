// Keeps what the page has found out while it is left and come back to.
import {nameOf} from '../api';
import type {Application} from '../types';
import type {Count} from './summary';

interface Remembered {
  counts: Count[];
  of: string;
  at: number;
}

/** How long the page believes what it found out about an Application that looks the same. */
const good = 10 * 60_000;
const mostRemembered = 5000;
const remembered = new Map<string, Remembered>();

function stateOf(app: Application): string {
  return JSON.stringify([app.status?.sync, app.status?.health?.status, app.status?.operationState?.finishedAt]);
}

export function remember(app: Application, counts: Count[]): void {
  if (remembered.size < mostRemembered || remembered.has(nameOf(app))) {
    remembered.set(nameOf(app), {counts, of: stateOf(app), at: Date.now()});
  }
}

/** What was found out about the Application, if it still holds. */
export function recall(app: Application): {counts?: Count[]; at?: number} {
  const found = remembered.get(nameOf(app));
  return found !== undefined && found.of === stateOf(app) && Date.now() - found.at < good ? {counts: found.counts, at: found.at} : {};
}

export function forgetAll(): void {
  remembered.clear();
}
