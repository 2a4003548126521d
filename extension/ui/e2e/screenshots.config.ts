import tests from './playwright.config';

/** Makes the pictures of the documentation; a picture is no test. */
export default {
  ...tests,
  testMatch: 'screenshots.ts',
  use: {...tests.use, trace: 'off' as const, viewport: {width: 1400, height: 900}, deviceScaleFactor: 1},
  projects: [{name: 'Argo CD v2.14', metadata: {root: '/v2.14/'}}],
};
