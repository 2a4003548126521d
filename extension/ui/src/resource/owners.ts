// Who owns which field of a live object, read from its managedFields. It is the same
// walk as the backend's, and the tests of both read the same files.

/** An entry of managedFields, without its fields. */
export interface Writer {
  manager: string;
  operation: string;
  subresource: string;
  /** RFC 3339, or empty. */
  time: string;
}

/** What is owned at one node of the live object; numbers are indices of entries. */
interface Node {
  /** Who owns the node itself, and who anything below it. */
  own: number[];
  below: number[];
  /** Who owns the node together with everything below it, such as an atomic list. */
  whole: number[];
  children: Map<string, Node>;
}

/** Says who owns the fields of one live object. */
export interface Ownership {
  writers: Writer[];
  root: Node;
}

type Fields = Record<string, unknown>;

export function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of an own key; what a prototype has is no field. */
export function valueAt(holder: unknown, key: string): unknown {
  return isMap(holder) && Object.prototype.hasOwnProperty.call(holder, key) ? holder[key] : undefined;
}

/** Reads managedFields. What is malformed in them says nothing. */
export function ownersOf(live: unknown): Ownership {
  const ownership: Ownership = {writers: [], root: emptyNode()};
  const entries = valueAt(valueAt(live, 'metadata'), 'managedFields');
  if (!Array.isArray(entries)) {
    return ownership;
  }
  for (const entry of entries as unknown[]) {
    const tree = valueAt(entry, 'fieldsV1');
    if (isMap(tree)) {
      ownership.writers.push({
        manager: text(entry, 'manager'),
        operation: text(entry, 'operation'),
        subresource: text(entry, 'subresource'),
        time: text(entry, 'time')
      });
      walk(ownership.root, tree, live, ownership.writers.length - 1);
    }
  }
  return ownership;
}

/**
 * Who owns the field: the owners of the field itself or of anything below it, else
 * those of the nearest field above that is owned as a whole.
 */
export function ownersAt(ownership: Ownership, path: string[]): Writer[] {
  let node: Node | undefined = ownership.root;
  let inherited: number[] = [];
  for (const step of path) {
    inherited = inheritedBelow(node, inherited);
    node = node === undefined ? undefined : node.children.get(step);
  }
  return writersOf(ownership, node, inherited);
}

/** The owners of everything below a node that nobody owns more closely. */
export function inheritedBelow(node: Node | undefined, above: number[]): number[] {
  return node !== undefined && node.whole.length > 0 ? node.whole : above;
}

/** The owners of a node, given those that it inherits. */
export function writersOf(ownership: Ownership, node: Node | undefined, inherited: number[]): Writer[] {
  const found = new Set<number>();
  if (node !== undefined) {
    node.own.forEach((i) => found.add(i));
    node.below.forEach((i) => found.add(i));
  }
  if (found.size === 0) {
    inherited.forEach((i) => found.add(i));
  }
  return ownership.writers.filter((_, i) => found.has(i));
}

/** The writer that wrote last; one without a time is the oldest. */
export function newest(writers: Writer[]): Writer | undefined {
  return writers.reduce<Writer | undefined>((last, writer) => (last === undefined || writer.time > last.time ? writer : last), undefined);
}

function emptyNode(): Node {
  return {own: [], below: [], whole: [], children: new Map<string, Node>()};
}

function text(holder: unknown, key: string): string {
  const value = valueAt(holder, key);
  return typeof value === 'string' ? value : '';
}

function note(owners: number[], who: number): void {
  if (owners[owners.length - 1] !== who) {
    owners.push(who);
  }
}

/** Follows one entry's tree along the live value that it speaks of. */
function walk(node: Node, tree: Fields, value: unknown, who: number): void {
  const steps = Object.keys(tree);
  if (steps.length === 0) {
    note(node.own, who);
    note(node.whole, who);
    return;
  }
  const indexes = new Map<string, Map<string, number>>();
  for (const step of steps) {
    if (step === '.') {
      note(node.own, who);
      continue;
    }
    const name = childOf(value, step, indexes);
    if (name === undefined) {
      continue;
    }
    let child = node.children.get(name);
    if (child === undefined) {
      child = emptyNode();
      node.children.set(name, child);
    }
    note(node.below, who);
    const below = tree[step];
    walk(child, isMap(below) ? below : {}, Array.isArray(value) ? (value as unknown[])[Number(name)] : valueAt(value, name), who);
  }
}

/** The key or index of the child that a step names, where the live value has it. */
function childOf(value: unknown, step: string, indexes: Map<string, Map<string, number>>): string | undefined {
  if (step.startsWith('f:')) {
    const name = step.slice(2);
    return isMap(value) && Object.prototype.hasOwnProperty.call(value, name) ? name : undefined;
  }
  if (!Array.isArray(value)) {
    return undefined;
  }
  const index = itemOf(value as unknown[], step, indexes);
  return index === undefined ? undefined : String(index);
}

/**
 * Finds the list item that a step names: by its keys ("k:{...}"), its value ("v:...")
 * or its index ("i:0"). Items are indexed once for every set of key names.
 */
function itemOf(items: unknown[], step: string, indexes: Map<string, Map<string, number>>): number | undefined {
  const rest = step.slice(2);
  switch (step.slice(0, 2)) {
    case 'i:': {
      const i = /^\d+$/.test(rest) ? Number(rest) : -1;
      return i >= 0 && i < items.length ? i : undefined;
    }
    case 'v:': {
      const read = parsed(rest);
      return read === undefined ? undefined : indexOf(items, undefined, indexes).get(canonical(read.value));
    }
    case 'k:': {
      const keys = parsed(rest)?.value;
      if (keys !== null && !isMap(keys)) {
        return undefined;
      }
      const names = Object.keys(keys ?? {}).sort();
      return indexOf(items, names, indexes).get(keyOf(keys ?? {}, names));
    }
  }
  return undefined;
}

/** Indexes the items by the values of the named keys, or by themselves. */
function indexOf(items: unknown[], names: string[] | undefined, indexes: Map<string, Map<string, number>>): Map<string, number> {
  const id = names === undefined ? 'values' : `keys ${JSON.stringify(names)}`;
  let index = indexes.get(id);
  if (index !== undefined) {
    return index;
  }
  index = new Map<string, number>();
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i];
    if (names === undefined) {
      index.set(canonical(item), i);
    } else if (isMap(item)) {
      index.set(keyOf(item, names), i);
    }
  }
  indexes.set(id, index);
  return index;
}

function keyOf(item: Fields, names: string[]): string {
  return JSON.stringify(names.map((name) => canonical(valueAt(item, name) ?? null)));
}

function parsed(spelt: string): {value: unknown} | undefined {
  try {
    return {value: JSON.parse(spelt) as unknown};
  } catch {
    return undefined;
  }
}

/** The value as JSON with sorted keys, so that equal values are spelt alike. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${(value as unknown[]).map(canonical).join(',')}]`;
  }
  if (isMap(value)) {
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
      .join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
