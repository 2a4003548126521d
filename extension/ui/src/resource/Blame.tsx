// A live object line by line, and beside each line who wrote it.
import * as React from 'react';
import {VirtualList} from '../parts/VirtualList';
import {line as oneLine} from '../text';
import type {Finding, KubeObject} from '../types';
import {BlameDetails} from './BlameDetails';
import {Legend} from './Legend';
import {filtered, linesOf} from './lines';
import type {Line} from './lines';
import {authorOf, countAuthors, lastWriter, nameOfAuthor} from './words';
import type {Author} from './words';

const rowHeight = 24;

interface Props {
  resource: KubeObject;
  kind: string;
  /** What is known about the resource; its fields are marked. */
  findings: Finding[];
}

/** The object with its writers, a legend, a search, and the details of one line. */
export function Blame({resource, kind, findings}: Props): React.ReactElement {
  const {lines, ownership} = React.useMemo(() => linesOf(resource), [resource]);
  const [status, setStatus] = React.useState(false);
  const [search, setSearch] = React.useState('');
  const [author, setAuthor] = React.useState<Author | undefined>(undefined);
  const [chosen, setChosen] = React.useState<string | undefined>(undefined);
  const counted = React.useMemo(() => filtered(lines, {status, search: ''}), [lines, status]);
  const counts = React.useMemo(() => countAuthors(counted, kind), [counted, kind]);
  const shown = React.useMemo(
    () => filtered(lines, {status, search, keep: author === undefined ? undefined : (line) => authorOf(line, kind) === author}),
    [lines, status, search, author, kind],
  );
  const differing = React.useMemo(() => differences(findings), [findings]);
  const selected = shown.find((line) => line.pointer === chosen);
  return (
    <React.Fragment>
      <Legend counts={counts} chosen={author} choose={setAuthor} />
      <div className='moorpin-filters'>
        <label className='moorpin-search'>
          <span className='moorpin-hidden'>Search fields and values</span>
          <input className='argo-field' type='search' placeholder='Search fields and values' value={search} onChange={(event) => setSearch(event.target.value)} />
        </label>
        <label>
          <input type='checkbox' checked={status} onChange={(event) => setStatus(event.target.checked)} /> Show status
        </label>
      </div>
      {ownership.writers.length === 0 && (
        <p className='moorpin-muted'>This object carries no managedFields, so nothing tells who wrote its fields.</p>
      )}
      <div className='moorpin-blame'>
        <Lines lines={shown} kind={kind} differing={differing} chosen={chosen} choose={setChosen} />
        <div className='white-box moorpin-blame__details' role='region' aria-label='The chosen field' aria-live='polite'>
          {selected === undefined ? (
            <p className='moorpin-muted'>Choose a line to see its value, who wrote it and when.</p>
          ) : (
            <BlameDetails line={selected} kind={kind} recorded={ownership.writers.length > 0} finding={findingAt(differing, selected.pointer)} />
          )}
        </div>
      </div>
    </React.Fragment>
  );
}

interface LinesProps {
  lines: Line[];
  kind: string;
  differing: Map<string, Finding>;
  chosen: string | undefined;
  choose: (pointer: string) => void;
}

/** The lines in sight; arrow keys move, the chosen line has its details below. */
function Lines({lines, kind, differing, chosen, choose}: LinesProps): React.ReactElement {
  const differs = (line: Line): boolean => line.value !== undefined && findingAt(differing, line.pointer) !== undefined;
  if (lines.length === 0) {
    return <p className='white-box moorpin-blame__lines moorpin-muted'>No field matches.</p>;
  }
  const at = (row: number): Line => lines[row] as Line;
  return (
    <VirtualList
      count={lines.length}
      rowHeight={rowHeight}
      className='white-box moorpin-blame__lines'
      label='Fields and who wrote them'
      chosen={lines.findIndex((line) => line.pointer === chosen)}
      choose={(row) => choose(at(row).pointer)}
      look={(row) => `moorpin-line${differs(at(row)) ? ' moorpin-line--differs' : ''}`}
      row={(row) => <Row line={at(row)} above={lines[row - 1]} kind={kind} marked={differs(at(row))} />}
    />
  );
}

interface RowProps {
  line: Line;
  above: Line | undefined;
  kind: string;
  /** It differs from Git. */
  marked: boolean;
}

/** What stands on one line; scrolling draws only those that come into sight. */
const Row = React.memo(function Row({line, above, kind, marked}: RowProps): React.ReactElement {
  const author = authorOf(line, kind);
  const last = lastWriter(line);
  const label = last === undefined ? nameOfAuthor(author) : oneLine(last.manager);
  const repeated = above !== undefined && above.value !== undefined && lastWriter(above) === last && authorOf(above, kind) === author;
  return (
    <React.Fragment>
      <span className={`moorpin-line__who${line.value === undefined ? '' : ` moorpin-by--${author}`}`}>
        {line.value === undefined ? '' : <span className={repeated ? 'moorpin-hidden' : undefined}>{label}</span>}
      </span>
      <span className='moorpin-line__code' style={{paddingLeft: `${indent(line)}ch`}}>
        {line.dashes > 0 && <span>{'- '.repeat(line.dashes)}</span>}
        {line.name !== undefined && <span className='moorpin-line__name'>{oneLine(line.name === '' ? '""' : line.name)}: </span>}
        {line.value !== undefined && oneLine(line.value)}
        {marked && <span className='moorpin-hidden'> (differs from Git)</span>}
      </span>
    </React.Fragment>
  );
});

function indent(line: Line): number {
  return Math.max(0, 2 * (line.depth - line.dashes));
}

/** The findings by the pointers of their live fields. */
function differences(findings: Finding[]): Map<string, Finding> {
  const found = new Map<string, Finding>();
  for (const finding of findings) {
    for (const field of finding.fields) {
      if ('live' in field) {
        found.set(field.pointer, finding);
      }
    }
  }
  return found;
}

/** The finding that is about the field, or about what it stands in. */
function findingAt(differing: Map<string, Finding>, pointer: string): Finding | undefined {
  for (let p = pointer; p !== ''; p = p.slice(0, p.lastIndexOf('/'))) {
    const found = differing.get(p);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
