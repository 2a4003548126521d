// Builds the host page's script once for each React of Argo CD, and its style sheet.
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const common = {absWorkingDir: here, outdir: 'out', bundle: true, minify: true, target: 'es2020', logLevel: 'warning'};

for (const version of ['16', '19']) {
    await build({
        ...common,
        entryPoints: {[`argo-${version}`]: `main${version}.tsx`},
        jsx: 'transform',
        define: {'process.env.NODE_ENV': '"production"'},
        alias: {react: `react${version}`, 'react-dom': `react-dom${version}`}
    });
}
await build({...common, entryPoints: ['argo.css'], loader: {'.woff2': 'file', '.woff': 'empty', '.ttf': 'empty'}});
