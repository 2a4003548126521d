// Answers as this page can read them. A backend of another version may leave out what is
// expected here, or send null for an empty list; what it adds is kept for the export.
import type {Answer, Field, Finding, Fix, Preview, PreviewField, Report, ResourceRef} from './types';

type Loose = {[key: string]: unknown};

function isMap(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapOf(value: unknown): Loose {
  return isMap(value) ? value : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function maps(value: unknown): Loose[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isMap) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? (value as unknown[]).filter((entry): entry is string => typeof entry === 'string') : [];
}

/** The map with these members as texts, "" where they are none. */
function withTexts(value: unknown, ...names: string[]): Loose {
  const map = {...mapOf(value)};
  names.forEach((name) => (map[name] = text(map[name])));
  return map;
}

function refOf(value: unknown): ResourceRef {
  return withTexts(value, 'group', 'kind', 'namespace', 'name') as unknown as ResourceRef;
}

function fieldOf(given: Loose): Field {
  const field = withTexts(given, 'pointer');
  if (text(mapOf(field.owner).manager) === '') {
    delete field.owner;
  } else {
    field.owner = withTexts(field.owner, 'operation');
  }
  return field as unknown as Field;
}

function findingOf(given: Loose): Finding {
  const finding = withTexts(given, 'mechanism', 'class', 'summary', 'confidence', 'sync');
  return {
    ...finding,
    resource: refOf(finding.resource),
    flagged: finding.flagged !== false,
    fields: maps(finding.fields).map(fieldOf),
    evidence: texts(finding.evidence),
    loss: texts(finding.loss),
    fixes: maps(finding.fixes).map((fix) => withTexts(fix, 'kind', 'where', 'snippet', 'why') as unknown as Fix),
  } as unknown as Finding;
}

/** The answer, if it holds a report. */
export function tidyAnswer(given: unknown): Answer | undefined {
  const answer = mapOf(given);
  const report = mapOf(answer.report);
  if (typeof report.verdict !== 'string' || !Array.isArray(report.findings)) {
    return undefined;
  }
  const made = {...withTexts(report, 'application', 'sync'), findings: maps(report.findings).map(findingOf), unheeded: texts(report.unheeded)} as unknown as Report;
  return {...(withTexts(answer, 'version') as {version: string}), report: made, warnings: texts(answer.warnings), comparedAt: text(answer.comparedAt) || undefined, collectedAt: text(answer.collectedAt) || undefined};
}

/** What ignore rules would do, if that is what was answered. */
export function tidyPreview(given: unknown): Preview | undefined {
  const preview = mapOf(given);
  if (!Array.isArray(preview.hides)) {
    return undefined;
  }
  const places = (value: unknown): PreviewField[] => maps(value).map((place) => ({...withTexts(place, 'pointer'), resource: refOf(place.resource)}) as unknown as PreviewField);
  const covers = places(preview.covers);
  return {
    hides: places(preview.hides),
    reveals: places(preview.reveals),
    covers,
    coversTotal: Math.max(covers.length, Number(preview.coversTotal) || 0),
    remaining: Number(preview.remaining) || 0,
    synced: preview.synced === true,
    unheeded: texts(preview.unheeded),
  };
}
