// The report as a file: JSON with everything, or Markdown for a ticket or a comment.
// What comes from a cluster must not become markup.
import type {Loaded} from '../api';
import {fieldPath, fixLabel, line, mechanismLabel, ownerText, resourceName, show, sideText, syncSentence, whereLabel} from '../text';
import type {Finding} from '../types';
import {arrange, findingsOf, notesOf, verdictOf} from './arrange';

const mostFields = 50;

/** The report as Markdown of GitHub's or GitLab's flavour. */
export function markdown(loaded: Loaded): string {
  const {answer, missing, argocdVersion} = loaded;
  const {report} = answer;
  const by = argocdVersion === undefined ? '' : ` by Argo CD ${prose(argocdVersion)}`;
  const out = [`## ${code(report.application)}: ${prose(verdictOf(loaded))}`, '', `Compared ${prose(answer.comparedAt ?? 'at an unknown time')}${by}. ${prose(syncSentence(report.sync))}`];
  for (const section of arrange(findingsOf(report))) {
    out.push('', `### ${section.title}`);
    for (const group of section.groups) {
      for (const finding of group.findings) {
        out.push('', ...findingLines(finding));
      }
    }
  }
  const notes = notesOf(answer, missing);
  if (notes.length > 0) {
    out.push('', '### Not read or not heeded', '', ...notes.map((text) => `- ${prose(text)}`));
  }
  return `${out.join('\n')}\n`;
}

function findingLines(finding: Finding): string[] {
  const hidden = finding.flagged ? '' : ', hidden from Argo CD';
  const out = [`#### ${mechanismLabel(finding.mechanism)}: ${code(resourceName(finding.resource))}`, '', `${prose(finding.summary)} (${prose(finding.mechanism)}, ${prose(finding.confidence)}${hidden})`, ''];
  for (const field of finding.fields.slice(0, mostFields)) {
    const owner = field.owner === undefined ? '' : `, by ${code(`${ownerText(field.owner)} ${field.owner.time ?? ''}`.trim())}`;
    out.push(`- ${code(fieldPath(field.pointer))}: desired ${code(sideText(field, 'target'))}, live ${code(sideText(field, 'live'))}${owner}`);
  }
  if (finding.fields.length > mostFields) {
    out.push(`- and ${finding.fields.length - mostFields} more fields; the JSON has all`);
  }
  out.push(`- sync: **${prose(syncSentence(finding.sync))}**`);
  out.push(...(finding.loss ?? []).map((text) => `- loses: ${prose(text)}`));
  out.push(...finding.evidence.map((text) => `- evidence: ${prose(text)}`));
  for (const fix of finding.fixes) {
    out.push('', `**${prose(fixLabel(fix.kind))}** ${prose(whereLabel(fix.where))}${fix.proven ? ', proven' : ''}. ${prose(fix.why)}`);
    if (fix.snippet !== '') {
      out.push('', fenced(fix.snippet));
    }
  }
  return out;
}

/** The text with all that would be markup escaped. */
export function prose(text: string): string {
  return line(text)
    .trim()
    .replace(/[\\`*_[\]<>#|~&!$@]/g, '\\$&')
    .replace(/(https?|ftp|mailto)(:)|(www)(\.)/gi, '$1$3\\$2$4')
    .replace(/^([-+=]|\d+[.)])/, (start) => `${start.slice(0, -1)}\\${start.slice(-1)}`);
}

/** The text as inline code. */
export function code(text: string): string {
  const one = line(text).slice(0, 2000);
  if (one.trim() === '') {
    return '(empty)';
  }
  const mark = fence(one, 1);
  const pad = one.startsWith('`') || one.endsWith('`') ? ' ' : '';
  return mark + pad + one + pad + mark;
}

function fenced(text: string): string {
  const clean = show(text).replace(/\s+$/, '');
  const mark = fence(clean, 3);
  return `${mark}\n${clean}\n${mark}`;
}

/** A run of backticks that is longer than any in the text. */
function fence(text: string, least: number): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  return '`'.repeat(Math.max(least, longest + 1));
}

/** Lets the browser save a text as a file. */
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replace(/[^\w.-]+/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
