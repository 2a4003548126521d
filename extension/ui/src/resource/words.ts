// What the page calls the writers of fields.
import {isKept} from './lines';
import type {Line} from './lines';
import {newest} from './owners';
import type {Writer} from './owners';
import {roleOf} from './roles';
import type {Role} from './roles';

/** A role, or the API server itself, which keeps some of metadata. */
export type Author = Role | 'server';

/** In the order in which they are listed: who changed Git's work first. */
export const authors: Author[] = ['person', 'applier', 'controller', 'argo', 'nobody', 'server'];

const names: Record<Author, string> = {
  person: 'People',
  applier: 'Other appliers',
  controller: 'Controllers',
  argo: 'Argo CD',
  nobody: 'No recorded writer',
  server: 'API server',
};

const explained: Record<Author, string> = {
  person: 'Somebody wrote this with kubectl, a dashboard or another tool.',
  applier: 'Another source applied a manifest: Helm, Terraform, kubectl apply.',
  controller: 'A controller or operator wrote this.',
  argo: 'Argo CD applied this from Git.',
  nobody: 'No field manager owns this: a default of the API server, or added at admission by a webhook.',
  server: 'The API server itself keeps this.',
};

export function nameOfAuthor(author: Author): string {
  return names[author];
}

export function explainAuthor(author: Author): string {
  return explained[author];
}

/** Who is named first for a line: the writer that wrote last. */
export function lastWriter(line: Line): Writer | undefined {
  return newest(line.writers);
}

/** Whose hand a line shows. */
export function authorOf(line: Line, kind: string): Author {
  const last = lastWriter(line);
  if (last === undefined) {
    return isKept(line.pointer) ? 'server' : 'nobody';
  }
  return roleOf(last, kind);
}

/** How many fields each author has. */
export function countAuthors(lines: Line[], kind: string): Map<Author, number> {
  const counts = new Map<Author, number>();
  for (const line of lines) {
    if (line.value !== undefined) {
      const author = authorOf(line, kind);
      counts.set(author, (counts.get(author) ?? 0) + 1);
    }
  }
  return counts;
}
