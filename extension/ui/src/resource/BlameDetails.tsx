import * as React from 'react';
import {Time} from '../parts/Time';
import {line as oneLine, mechanismLabel, show} from '../text';
import type {Finding} from '../types';
import type {Line} from './lines';
import type {Writer} from './owners';
import {roleOf} from './roles';
import {authorOf, explainAuthor, nameOfAuthor} from './words';

/** How much of a value is shown. */
const mostShown = 4000;

interface Props {
  line: Line;
  kind: string;
  /** The object carries managedFields. */
  recorded: boolean;
  finding: Finding | undefined;
}

/** Everything that is known of one line: its place, its value, and all its writers. */
export function BlameDetails({line, kind, recorded, finding}: Props): React.ReactElement {
  const writers = line.writers.slice().sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0));
  return (
    <React.Fragment>
      <p className='moorpin-code'>{oneLine(line.pointer)}</p>
      {line.value !== undefined && <pre>{show(whole(line.raw))}</pre>}
      {finding !== undefined && (
        <p>
          Differs from Git: <strong>{mechanismLabel(finding.mechanism)}</strong>. {show(finding.summary)}
        </p>
      )}
      {line.value === undefined && <p className='moorpin-muted'>The fields below say who wrote them.</p>}
      {line.value !== undefined && writers.length === 0 && recorded && <p>{explainAuthor(authorOf(line, kind))}</p>}
      {writers.length > 0 && (
        <ul className='moorpin-plain' aria-label='Writers, the latest first'>
          {writers.map((writer, i) => (
            <li key={i}>
              <WriterText writer={writer} kind={kind} />
            </li>
          ))}
        </ul>
      )}
    </React.Fragment>
  );
}

function WriterText({writer, kind}: {writer: Writer; kind: string}): React.ReactElement {
  const role = roleOf(writer, kind);
  return (
    <React.Fragment>
      <span className={`moorpin-author moorpin-by--${role}`}>{nameOfAuthor(role)}</span> <strong>{oneLine(writer.manager)}</strong>
      {writer.operation !== '' && ` by ${oneLine(writer.operation)}`}
      {writer.subresource !== '' && ` of ${oneLine(writer.subresource)}`}
      <Time at={writer.time} lead=', ' />
    </React.Fragment>
  );
}

function whole(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2) ?? 'null';
  return text.length > mostShown ? `${text.slice(0, mostShown)}… (${text.length} characters in all)` : text;
}
