// A live object as lines, the way YAML writes it, each with who owns it. Objects come
// from a cluster: their texts are data, shortened here and made visible where shown.
import {inheritedBelow, isMap, ownersOf, writersOf} from './owners';
import type {Ownership, Writer} from './owners';

/** One line of the object. */
export interface Line {
  /** RFC 6901. */
  pointer: string;
  depth: number;
  /** The key; absent for an item of a list. */
  name?: string;
  /** How many list items begin on this line. */
  dashes: number;
  /** The value on one line; absent where the lines below hold it. */
  value?: string;
  /** The whole value; absent where the lines below hold it. */
  raw?: unknown;
  /** Who owns the value; empty where the lines below say it. */
  writers: Writer[];
}

/** How much of a value is put on a line. */
const mostOnLine = 300;

/** What the API server itself keeps in metadata; nobody writes it. */
const kept = new Set(['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'selfLink', 'name', 'namespace']);

/** The lines of the object without managedFields, and those who wrote it. */
export function linesOf(live: unknown): {lines: Line[]; ownership: Ownership} {
  const ownership = ownersOf(live);
  const lines: Line[] = [];
  if (isMap(live)) {
    mapLines({lines, ownership}, live, {path: '', depth: 0, dashes: 0, node: ownership.root, inherited: []});
  }
  return {lines, ownership};
}

/** Whether a field is the API server's own or names the object, so that no writer is missing. */
export function isKept(pointer: string): boolean {
  if (pointer === '/apiVersion' || pointer === '/kind') {
    return true;
  }
  return pointer.startsWith('/metadata/') && kept.has(pointer.slice('/metadata/'.length));
}

/** One more step of a pointer. */
export function step(pointer: string, name: string): string {
  return `${pointer}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`;
}

/** Where in the object the lines are that are being made. */
interface Place {
  path: string;
  depth: number;
  /** The dashes of the list items that begin on the next line. */
  dashes: number;
  node: Ownership['root'] | undefined;
  inherited: number[];
}

interface Making {
  lines: Line[];
  ownership: Ownership;
}

function mapLines(making: Making, value: Record<string, unknown>, place: Place): void {
  let dashes = place.dashes;
  for (const name of Object.keys(value)) {
    if (place.path === '/metadata' && name === 'managedFields') {
      continue;
    }
    valueLines(making, name, value[name], below(place, name, dashes));
    dashes = 0;
  }
}

/** The place of a child; a further key of an item stands beside the first. */
function below(place: Place, name: string, dashes: number): Place {
  return {
    path: step(place.path, name),
    depth: place.depth,
    dashes,
    node: place.node === undefined ? undefined : place.node.children.get(name),
    inherited: inheritedBelow(place.node, place.inherited),
  };
}

function valueLines(making: Making, name: string | undefined, value: unknown, place: Place): void {
  if (isMap(value) && Object.keys(value).length > 0) {
    if (name !== undefined) {
      making.lines.push(header(name, place));
      mapLines(making, value, {...place, depth: place.depth + 1, dashes: 0});
    } else {
      mapLines(making, value, place);
    }
    return;
  }
  if (Array.isArray(value) && value.length > 0) {
    if (name !== undefined) {
      making.lines.push(header(name, place));
    }
    (value as unknown[]).forEach((item, i) => {
      const child = below(place, String(i), (name === undefined && i === 0 ? place.dashes : 0) + 1);
      valueLines(making, undefined, item, {...child, depth: place.depth + 1});
    });
    return;
  }
  const writers = writersOf(making.ownership, place.node, place.inherited);
  making.lines.push({pointer: place.path, depth: place.depth, name, dashes: place.dashes, value: spelt(value), raw: value, writers});
}

function header(name: string, place: Place): Line {
  return {pointer: place.path, depth: place.depth, name, dashes: place.dashes, writers: []};
}

/** The value on one line: a text without quotes where YAML could not misread it. */
export function spelt(value: unknown): string {
  if (typeof value !== 'string') {
    return JSON.stringify(value) ?? 'null';
  }
  const text = value.length > mostOnLine ? `${value.slice(0, mostOnLine)}…` : value;
  return /^[A-Za-z/][A-Za-z0-9_./:@%+ -]*$/.test(text) && !/^(true|false|null|yes|no|on|off)$/i.test(text) && !/: | $|:$/.test(text) ? text : JSON.stringify(text);
}

/** What is shown of the lines. */
export interface Shown {
  /** Show status. */
  status: boolean;
  /** A text that the pointer or value must hold, in any case. */
  search: string;
  /** Only the lines for which this is true, and those above them. */
  keep?: (line: Line) => boolean;
}

/** The lines that are to be shown, with the headers above them. */
export function filtered(lines: Line[], shown: Shown): Line[] {
  const search = shown.search.trim().toLowerCase();
  const wanted = (line: Line): boolean =>
    line.value !== undefined &&
    (shown.keep === undefined || shown.keep(line)) &&
    (search === '' || line.pointer.toLowerCase().includes(search) || line.value.toLowerCase().includes(search));
  const found: Line[] = [];
  let next = '';
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = lines[i];
    if (line === undefined || (!shown.status && (line.pointer === '/status' || line.pointer.startsWith('/status/')))) {
      continue;
    }
    if (wanted(line) || (line.value === undefined && next.startsWith(`${line.pointer}/`))) {
      found.push(line);
      next = line.pointer;
    }
  }
  return found.reverse();
}
