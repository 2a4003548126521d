// The walk of fieldsV1 and the roles of managers, by the files that the tests of the
// backend read: both must say the same.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {newest, ownersAt, ownersOf} from '../src/resource/owners';
import {roleOf} from '../src/resource/roles';

function shared<T>(name: string): T {
  return JSON.parse(readFileSync(join(process.cwd(), '../../pkg/drift/testdata/owners', name), 'utf8')) as T;
}

describe('owners', () => {
  const rows = shared<Record<string, {why: string; live: unknown; owners: Record<string, string[]>}>>('fields.json');
  for (const [name, row] of Object.entries(rows)) {
    it(`${name}: ${row.why}`, () => {
      const ownership = ownersOf(row.live);
      const got = Object.fromEntries(Object.keys(row.owners).map(pointer => [pointer, ownersAt(ownership, path(pointer)).map(writer => writer.manager)]));
      expect(got).toEqual(row.owners);
    });
  }

  it('takes the latest, and one without a time for the oldest', () => {
    const writer = (manager: string, time: string) => ({manager, time, operation: 'Update', subresource: ''});
    expect(newest([writer('a', ''), writer('b', '2026-01-01T00:00:00Z'), writer('c', '2025-01-01T00:00:00Z')])?.manager).toBe('b');
    expect(newest([])).toBeUndefined();
  });
});

describe('roles', () => {
  for (const row of shared<{manager: string; operation?: string; kind?: string; role: string}[]>('roles.json')) {
    it(`${row.manager} ${row.operation ?? ''} of ${row.kind ?? 'any kind'} is ${row.role}`, () => {
      expect(roleOf({manager: row.manager, operation: row.operation ?? ''}, row.kind ?? '')).toBe(row.role);
    });
  }
});

function path(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replace(/~1/g, '/').replace(/~0/g, '~'));
}
