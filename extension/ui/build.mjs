// Builds dist/extension-moorpin.js: one function, no React inside, a newline at its
// end, because Argo CD concatenates the files of all extensions without one.
//
//   node build.mjs            write the bundle
//   node build.mjs --parts    say what takes how much of it, too
//   node build.mjs --check    fail when the committed bundle differs, or is too large
import {readFile, writeFile, mkdir} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, 'dist', 'extension-moorpin.js');
const mostBytes = 100 * 1024;

/** What of React is used: all of it is in every version from 16.8 on. */
const ofReact = ['Component', 'Fragment', 'createElement', 'memo', 'useCallback', 'useEffect', 'useLayoutEffect', 'useMemo', 'useRef', 'useState'];

/** React is the page's own, whichever version that is. */
const hostReact = {
  name: 'host-react',
  setup(building) {
    building.onResolve({filter: /^react$/}, () => ({path: 'react', namespace: 'host'}));
    const names = ofReact.map((name) => `export const ${name} = host.${name};`);
    building.onLoad({filter: /.*/, namespace: 'host'}, () => ({contents: ['const host = window.React;', ...names].join('\n'), loader: 'js'}));
    building.onResolve({filter: /^(react-dom|react\/|scheduler)/}, ({path}) => ({
      errors: [{text: `${path} would bring a React of its own, or one that Argo CD does not have: use React.createElement`}],
    }));
  },
};

// The file before this one may end without a semicolon. The page's React is there when
// this file runs, or at the latest once the page has loaded. Without it nothing is done:
// an extension must not break the page.
const banner = ';(function(){function moorpin(){';
const footer = '}if(window.React){moorpin()}else{window.addEventListener("load",function(){if(window.React){moorpin()}})}})();';

const result = await build({
  absWorkingDir: here,
  entryPoints: ['src/index.tsx'],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  target: 'es2020',
  charset: 'ascii',
  legalComments: 'none',
  jsx: 'transform',
  loader: {'.css': 'text'},
  plugins: [hostReact, minifiedCSS()],
  logLevel: 'warning',
  // A name that React 16 does not have must not get into the bundle.
  logOverride: {'import-is-undefined': 'error'},
  metafile: true,
});
const made = `${banner}${result.outputFiles[0].text.trimEnd()}${footer}\n`;
const size = Buffer.byteLength(made);
if (size > mostBytes) {
  console.error(`the bundle has ${size} bytes, more than ${mostBytes}: every page of Argo CD loads it, make it smaller`);
  process.exit(1);
}

if (process.argv.includes('--check')) {
  const committed = await readFile(bundle, 'utf8').catch(() => '');
  if (committed !== made) {
    console.error('dist/extension-moorpin.js is not what the sources make: run `make ui` and commit it');
    process.exit(1);
  }
} else {
  await mkdir(dirname(bundle), {recursive: true});
  await writeFile(bundle, made);
}
console.log(`extension-moorpin.js: ${size} bytes`);
if (process.argv.includes('--parts')) {
  const [{inputs}] = Object.values(result.metafile.outputs);
  for (const [path, {bytesInOutput}] of Object.entries(inputs).sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput)) {
    console.log(`${String(bytesInOutput).padStart(7)} ${path}`);
  }
}

/** Loads style sheets as minified text. */
function minifiedCSS() {
  return {
    name: 'minified-css',
    setup(building) {
      building.onLoad({filter: /\.css$/}, async ({path}) => {
        const small = await build({entryPoints: [path], minify: true, write: false, logLevel: 'warning', charset: 'ascii'});
        return {contents: small.outputFiles[0].text.trim(), loader: 'text'};
      });
    },
  };
}
