// A live object line by line, and beside each line who wrote it.
import * as React from 'react';
import {useRows} from '../parts/useRows';
import {line as oneLine} from '../text';
import type {Finding, KubeObject} from '../types';
import {BlameDetails} from './BlameDetails';
import {Legend} from './Legend';
import {filtered, linesOf} from './lines';
import type {Line} from './lines';
import {authorOf, countAuthors, lastWriter, nameOfAuthor} from './words';
import type {Author} from './words';

const rowHeight = 24;
const pageRows = 20;

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
            <BlameDetails line={selected} kind={kind} finding={findingAt(differing, selected.pointer)} />
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
  const rows = useRows(lines.length, rowHeight);
  const id = useId('moorpin-line');
  const at = lines.findIndex((line) => line.pointer === chosen);
  const move = (to: number): void => {
    const line = lines[Math.min(Math.max(0, to), lines.length - 1)];
    if (line !== undefined) {
      choose(line.pointer);
      rows.reveal(lines.indexOf(line));
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const to = target(event.key, at, lines.length);
    if (to !== undefined) {
      event.preventDefault();
      move(to);
    }
  };
  if (lines.length === 0) {
    return <p className='white-box moorpin-blame__lines moorpin-muted'>No field matches.</p>;
  }
  const drawn = lines.slice(rows.first, rows.end);
  return (
    <div
      className='white-box moorpin-blame__lines'
      ref={rows.ref}
      onScroll={rows.onScroll}
      role='listbox'
      tabIndex={0}
      aria-label='Fields and who wrote them'
      aria-activedescendant={at >= rows.first && at < rows.end ? `${id}-${at}` : undefined}
      onKeyDown={onKeyDown}>
      <div role='presentation' style={{height: lines.length * rowHeight, position: 'relative'}}>
        <div role='presentation' style={{position: 'absolute', top: rows.first * rowHeight, left: 0, right: 0}}>
          {drawn.map((line, i) => {
            const row = rows.first + i;
            return (
              <Row
                key={line.pointer}
                id={`${id}-${row}`}
                line={line}
                above={lines[row - 1]}
                kind={kind}
                differs={findingAt(differing, line.pointer) !== undefined}
                place={row + 1}
                of={lines.length}
                chosen={row === at}
                choose={choose}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Where a key leads from a row. */
function target(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return at + 1;
    case 'ArrowUp':
      return at < 0 ? 0 : at - 1;
    case 'PageDown':
      return at + pageRows;
    case 'PageUp':
      return at - pageRows;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
  }
  return undefined;
}

interface RowProps {
  id: string;
  line: Line;
  above: Line | undefined;
  kind: string;
  differs: boolean;
  place: number;
  of: number;
  chosen: boolean;
  choose: (pointer: string) => void;
}

/** One line; scrolling draws only those that come into sight. */
const Row = React.memo(function Row({id, line, above, kind, differs, place, of, chosen, choose}: RowProps): React.ReactElement {
  const author = authorOf(line, kind);
  const last = lastWriter(line);
  const label = last === undefined ? nameOfAuthor(author) : oneLine(last.manager);
  const repeated = above !== undefined && above.value !== undefined && lastWriter(above) === last && authorOf(above, kind) === author;
  const marked = differs && line.value !== undefined;
  return (
    // The list holds the focus and hears the keys; a click only chooses.
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      className={`moorpin-line${marked ? ' moorpin-line--differs' : ''}`}
      role='option'
      aria-selected={chosen}
      aria-setsize={of}
      aria-posinset={place}
      tabIndex={-1}
      onClick={() => choose(line.pointer)}>
      <span className={`moorpin-line__who${line.value === undefined ? '' : ` moorpin-by--${author}`}`}>
        {line.value === undefined ? '' : <span className={repeated ? 'moorpin-hidden' : undefined}>{label}</span>}
      </span>
      <span className='moorpin-line__code' style={{paddingLeft: `${indent(line)}ch`}}>
        {line.dashes > 0 && <span>{'- '.repeat(line.dashes)}</span>}
        {line.name !== undefined && <span className='moorpin-line__name'>{oneLine(line.name === '' ? '""' : line.name)}: </span>}
        {line.value !== undefined && oneLine(line.value)}
        {marked && <span className='moorpin-hidden'> (differs from Git)</span>}
      </span>
    </div>
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

let ids = 0;

/** An id that no other element has. */
function useId(prefix: string): string {
  const ref = React.useRef('');
  if (ref.current === '') {
    ids += 1;
    ref.current = `${prefix}-${ids}`;
  }
  return ref.current;
}
