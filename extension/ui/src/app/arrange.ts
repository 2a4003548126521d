// How the findings of a report are put in order for somebody who has little time: what
// a sync would take away first, then what needs somebody, what a sync solves, and what
// is noise.
import type {Loaded} from '../api';
import type {ViewState} from '../state';
import {fieldPath, loses, mechanismLabel, needsAction, resourceKey, resourceName, severity} from '../text';
import type {Answer, Finding, Report} from '../types';

export interface Group {
  mechanism: string;
  findings: Finding[];
  resources: number;
  fields: number;
  /** The most severe of its findings. */
  worst: Finding;
}

export interface Section {
  id: 'action' | 'sync' | 'noise';
  title: string;
  text: string;
  groups: Group[];
}

const sections: {id: Section['id']; title: string; text: string}[] = [
  {id: 'action', title: 'Needs action', text: 'Somebody has to decide or do something.'},
  {id: 'sync', title: 'Solved by a sync or by waiting', text: 'Nobody loses anything.'},
  {id: 'noise', title: 'Noise', text: 'A sync changes nothing for good; the fix keeps it from coming back.'},
];

function sectionOf(finding: Finding): Section['id'] {
  if (needsAction(finding)) {
    return 'action';
  }
  return finding.sync === 'safe' || finding.sync === 'wait' ? 'sync' : 'noise';
}

/** The findings by section and mechanism, what is most urgent first. */
export function arrange(findings: Finding[]): Section[] {
  const byMechanism = new Map<string, Finding[]>();
  for (const finding of findings) {
    const id = `${sectionOf(finding)} ${finding.mechanism}`;
    byMechanism.set(id, [...(byMechanism.get(id) ?? []), finding]);
  }
  const groups = [...byMechanism.values()].map(group).sort((a, b) => urgency(a.worst, b.worst) || b.fields - a.fields || a.mechanism.localeCompare(b.mechanism));
  return sections.map((section) => ({...section, groups: groups.filter(({worst}) => sectionOf(worst) === section.id)})).filter(({groups: found}) => found.length > 0);
}

function group(findings: Finding[]): Group {
  const sorted = findings.slice().sort((a, b) => urgency(a, b) || resourceKey(a.resource).localeCompare(resourceKey(b.resource)));
  return {
    mechanism: sorted[0]?.mechanism ?? '',
    findings: sorted,
    resources: new Set(sorted.map(({resource}) => resourceKey(resource))).size,
    fields: sorted.reduce((sum, {fields}) => sum + fields.length, 0),
    worst: sorted[0] as Finding,
  };
}

function urgency(a: Finding, b: Finding): number {
  return severity(b.sync) - severity(a.sync) || Number(b.flagged) - Number(a.flagged);
}

/** The findings that a filter lets through. */
export function filtered(findings: Finding[], state: ViewState): Finding[] {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  return findings.filter((finding) => {
    if (state.mechanism !== '' && finding.mechanism !== state.mechanism) {
      return false;
    }
    if (state.kind !== '' && finding.resource.kind !== state.kind) {
      return false;
    }
    if (state.action && !needsAction(finding)) {
      return false;
    }
    return words.length === 0 || words.every((word) => textOf(finding).includes(word));
  });
}

const texts = new WeakMap<Finding, string>();

/** All of a finding that is searched, in lower case. */
function textOf(finding: Finding): string {
  let text = texts.get(finding);
  if (text === undefined) {
    const fields = finding.fields.map((f) => `${f.pointer} ${fieldPath(f.pointer)} ${f.owner?.manager ?? ''} ${short(f.target)} ${short(f.live)}`);
    text = [resourceName(finding.resource), finding.mechanism, mechanismLabel(finding.mechanism), finding.summary, ...fields, ...finding.evidence].join(' ').toLowerCase();
    texts.set(finding, text);
  }
  return text;
}

function short(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value).slice(0, 300);
}

/** The report's findings, without the one that says there are none. */
export function findingsOf(report: Report): Finding[] {
  return report.findings.filter(({mechanism}) => mechanism !== 'none');
}

/** What a sync would take away, of all findings. */
export function losing(findings: Finding[]): Finding[] {
  return findings.filter((finding) => loses(finding)).sort((a, b) => urgency(a, b));
}


/** What could not be read or was not heeded, each once. */
export function notesOf({report, warnings}: Answer, missing: string[]): string[] {
  return [...new Set([...(report.unheeded ?? []), ...missing, ...(warnings ?? [])])];
}

/** The answer in one sentence; that of the backend knows only of what was sent. */
export function verdictOf({answer: {report}, all, partial}: Loaded): string {
  if (findingsOf(report).length > 0 || (all && !partial)) {
    return report.verdict;
  }
  return partial ? 'No difference in what could be read.' : 'In sync: Argo CD flags nothing.';
}
