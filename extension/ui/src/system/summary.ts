// Adds up the reports of many Applications by mechanism: what needs somebody first.
import {severity, urgency} from '../text';
import type {Application, Report, Sync} from '../types';

/** What of a report is kept: how often a mechanism is at work, and no value of any field. */
export interface Count {
  mechanism: string;
  class: string;
  /** One sentence; that of the first finding. */
  summary: string;
  /** The worst that a sync would do. */
  sync: Sync;
  findings: number;
  fields: number;
}

/** An Application of the list, with what was found out about it. */
export interface Entry {
  application: Application;
  /** By mechanism; absent while nobody asked, or when the report could not be had. */
  counts?: Count[];
  /** When that was, in milliseconds. */
  at?: number;
  /** Why there is no report. */
  error?: unknown;
}

/** One mechanism over all Applications. */
export interface Group extends Count {
  affected: {entry: Entry; count: Count}[];
}

function worse(a: Sync, b: Sync): Sync {
  return severity(b) > severity(a) ? b : a;
}

/** A report by mechanism, the worst first. */
export function countsOf(report: Report): Count[] {
  const found = new Map<string, Count>();
  for (const {mechanism, class: letter, summary, sync, fields} of report.findings) {
    if (mechanism === 'none') {
      continue;
    }
    const count = found.get(mechanism) ?? {mechanism, class: letter, summary, sync, findings: 0, fields: 0};
    count.sync = worse(count.sync, sync);
    count.findings += 1;
    count.fields += fields.length;
    found.set(mechanism, count);
  }
  return Array.from(found.values()).sort(byUrgency);
}

/** The worst that a sync would do to an Application. */
export function worstOf(counts: Count[]): Sync {
  return counts.reduce<Sync>((sync, count) => worse(sync, count.sync), 'nothing-to-do');
}

/** What the reports tell, by mechanism: the worst effect first, then the most Applications. */
export function groupsOf(entries: Entry[]): Group[] {
  const groups = new Map<string, Group>();
  for (const entry of entries) {
    for (const count of entry.counts ?? []) {
      const group = groups.get(count.mechanism) ?? {...count, findings: 0, fields: 0, affected: []};
      group.sync = worse(group.sync, count.sync);
      group.findings += count.findings;
      group.fields += count.fields;
      group.affected.push({entry, count});
      groups.set(count.mechanism, group);
    }
  }
  const sorted = Array.from(groups.values());
  sorted.forEach((group) => group.affected.sort((a, b) => byUrgency(a.count, b.count)));
  return sorted.sort((a, b) => urgency(b) - urgency(a) || b.affected.length - a.affected.length || byUrgency(a, b));
}

function byUrgency(a: Count, b: Count): number {
  return urgency(b) - urgency(a) || b.findings - a.findings || (a.mechanism < b.mechanism ? -1 : 1);
}

/** Which Applications are worth a report: those that Argo CD does not call Synced. */
export function drifting(app: Application): boolean {
  return app.status?.sync?.status !== 'Synced';
}
