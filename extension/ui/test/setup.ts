// react-dom of either version asks for "react" by that name; it must get its own.
import Module from 'node:module';
import {afterEach, beforeEach, expect, vi, type MockInstance} from 'vitest';

type Resolve = (request: string, ...rest: unknown[]) => string;

const loader = Module as unknown as {_resolveFilename: Resolve};
const resolve = loader._resolveFilename.bind(loader);
const version = process.env.REACT ?? '';
const own: {[request: string]: string} = {react: `react${version}`, 'react-dom': `react-dom${version}`};

loader._resolveFilename = (request, ...rest) => resolve(own[request] ?? request, ...rest);

// What React has to complain about is a mistake of ours: keys, attributes, states that are
// set after the end. A test that makes a component throw expects it, and mocks it itself.
let complaints: MockInstance<typeof console.error>;

beforeEach(() => {
  complaints = vi.spyOn(console, 'error');
});

afterEach(() => {
  expect(complaints.mock.calls.map(([first]) => String(first))).toEqual([]);
  complaints.mockRestore();
});
