// react-dom of either version asks for "react" by that name; it must get its own.
import Module from 'node:module';

type Resolve = (request: string, ...rest: unknown[]) => string;

const loader = Module as unknown as {_resolveFilename: Resolve};
const resolve = loader._resolveFilename.bind(loader);
const version = process.env.REACT ?? '';
const own: {[request: string]: string} = {react: `react${version}`, 'react-dom': `react-dom${version}`};

loader._resolveFilename = (request, ...rest) => resolve(own[request] ?? request, ...rest);
