import {defineConfig} from '@playwright/test';

const address = process.env.MOORPIN_HOST;
if (!address) {
    throw new Error('MOORPIN_HOST is not set: run `make test-ui`, which starts what these tests need');
}

export default defineConfig({
    testDir: '.',
    outputDir: 'out',
    reporter: [['list']],
    // Two cores carry a whole control plane beside the browser.
    workers: 1,
    timeout: 60_000,
    expect: {timeout: 10_000},
    use: {
        baseURL: address,
        viewport: {width: 1400, height: 900},
        locale: 'en-GB',
        timezoneId: 'Europe/Berlin',
        trace: 'retain-on-failure',
        launchOptions: {
            executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
            // As root, as in most containers of CI, Chromium's own sandbox does not start.
            args: ['--no-sandbox', '--disable-dev-shm-usage']
        }
    },
    projects: [
        {name: 'Argo CD v2.14, React 16', metadata: {root: '/v2.14/'}},
        {name: 'Argo CD v3.5, React 19', metadata: {root: '/v3.5/'}}
    ]
});
