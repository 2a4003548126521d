import {describe, expect, it} from 'vitest';
import {filtered, isKept, linesOf, spelt} from '../src/resource/lines';
import type {Line} from '../src/resource/lines';
import {authorOf} from '../src/resource/words';

const live = {
  apiVersion: 'v1',
  metadata: {name: 'web', managedFields: [{manager: 'kubectl-edit', operation: 'Update', time: '2026-01-01T00:00:00Z', fieldsV1: {'f:spec': {'f:ports': {'k:{"port":80}': {'f:name': {}}}, 'f:args': {}}}}]},
  spec: {
    ports: [
      {name: 'http', port: 80},
      {name: 'tls', port: 443},
    ],
    args: [['-c', 'true'], []],
    empty: {},
  },
  status: {replicas: 2},
};

function drawn(lines: Line[]): string[] {
  return lines.map(line => `${' '.repeat(2 * (line.depth - line.dashes))}${'- '.repeat(line.dashes)}${line.name === undefined ? '' : `${line.name}: `}${line.value ?? ''}`.trimEnd());
}

describe('lines', () => {
  it('are written as YAML writes them, without managedFields', () => {
    expect(drawn(linesOf(live).lines)).toEqual([
      'apiVersion: v1', 'metadata:', '  name: web', 'spec:', '  ports:', '  - name: http', '    port: 80', '  - name: tls', '    port: 443',
      '  args:', '  - - "-c"', '    - "true"', '  - []', '  empty: {}', 'status:', '  replicas: 2',
    ]);
  });

  it('name their pointers and writers', () => {
    const {lines} = linesOf(live);
    const at = (pointer: string) => lines.find(line => line.pointer === pointer);
    expect(at('/spec/ports/0/name')?.writers.map(w => w.manager)).toEqual(['kubectl-edit']);
    expect(at('/spec/ports/1/name')?.writers).toEqual([]);
    // An atomic list is owned with all that is in it.
    expect(at('/spec/args/0/1')?.writers.map(w => w.manager)).toEqual(['kubectl-edit']);
  });

  it('say whose hand they show', () => {
    const {lines} = linesOf(live);
    const author = (pointer: string) => authorOf(lines.find(line => line.pointer === pointer) as Line, 'Service');
    expect(author('/spec/ports/0/name')).toBe('person');
    expect(author('/spec/ports/1/name')).toBe('nobody');
    expect(author('/metadata/name')).toBe('server');
    expect(isKept('/metadata/labels')).toBe(false);
  });

  it('leave status out unless it is asked for', () => {
    const {lines} = linesOf(live);
    expect(filtered(lines, {status: false, search: ''}).some(line => line.pointer.startsWith('/status'))).toBe(false);
    expect(filtered(lines, {status: true, search: ''})).toEqual(lines);
  });

  it('keep the lines above a match', () => {
    const {lines} = linesOf(live);
    expect(filtered(lines, {status: false, search: '443'}).map(line => line.pointer)).toEqual(['/spec', '/spec/ports', '/spec/ports/1/port']);
    expect(filtered(lines, {status: false, search: 'no such'})).toEqual([]);
  });

  it('tell an empty key from an item', () => {
    expect(drawn(linesOf({data: {'': 'x', 'a/b': 'y'}}).lines)).toEqual(['data:', '  : x', '  a/b: y']);
    expect(linesOf({data: {'a/b': 'y'}}).lines[1]?.pointer).toBe('/data/a~1b');
  });

  it('survive what is no object', () => {
    for (const odd of [null, undefined, 7, 'x', [], [1]]) {
      expect(linesOf(odd).lines).toEqual([]);
    }
  });
});

describe('values', () => {
  it.each([
    ['web', 'web'], ['true', '"true"'], ['NO', '"NO"'], ['', '""'], ['1', '"1"'], ['a: b', '"a: b"'], ['a:', '"a:"'], ['a\nb', '"a\\nb"'],
    [1, '1'], [null, 'null'], [false, 'false'], [{}, '{}'], [[], '[]'], ['nginx:1.25', 'nginx:1.25'],
  ])('%j is spelt %s', (value, want) => {
    expect(spelt(value)).toBe(want);
  });

  it('are cut when they are long', () => {
    expect(spelt('x'.repeat(1_000_000)).length).toBeLessThan(400);
  });
});
