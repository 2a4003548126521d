import {defineConfig} from 'vitest/config';

/** All tests run twice, on the React of Argo CD up to v3.4 and on that from v3.5 on. */
const versions = ['16', '19'];

export default defineConfig({
  test: {
    projects: versions.map((version) => ({
      resolve: {
        alias: [
          {find: /^react$/, replacement: `react${version}`},
          {find: /^react-dom$/, replacement: `react-dom${version}`},
          {find: /^react-dom\/client$/, replacement: `react-dom${version}/client`},
        ],
      },
      esbuild: {jsx: 'transform', jsxFactory: 'React.createElement', jsxFragment: 'React.Fragment'},
      test: {
        name: `react-${version}`,
        environment: 'jsdom',
        include: ['test/**/*.test.{ts,tsx}'],
        setupFiles: ['test/setup.ts'],
        env: {REACT: version},
        pool: 'forks',
        // react-dom of either version asks for "react"; it must get its own.
        server: {deps: {inline: [/react-dom(16|19)/]}},
      },
    })),
  },
});
