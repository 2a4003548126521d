// What every test shares: a browser in front of the host page, and the promises that hold
// on all pages: no error in the console, nothing asked of another origin.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {expect, test as base, type Locator, type Page, type TestInfo} from '@playwright/test';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export type Theme = 'light' | 'dark';

/** The tests that stand for all where time is short: `npm run e2e:sample`. */
export const sample = {tag: '@sample'};

/** Ways in which the extension answers badly; the host page makes argocd-server take another one. */
export type Fault = 'absent' | 'off' | 'down' | 'slow' | 'stuck' | 'busy' | 'crash' | 'skew' | 'garbage' | 'collecting';

interface Options {
  /** ada sees the shop, ben may not use the extension, tess sees the lab too. */
  user?: 'ada' | 'ben' | 'tess' | 'nobody';
  theme?: Theme;
  fault?: Fault;
}

/** Argo is the page of Argo CD in one browser. */
export class Argo {
  readonly problems: string[] = [];
  /** What the browser itself writes of answers that are no success is expected where they are. */
  failing = false;

  constructor(
    readonly page: Page,
    readonly root: string,
    private readonly origin: string,
  ) {
    page.on('console', (message) => {
      const expected = this.failing && message.text().startsWith('Failed to load resource');
      if (['error', 'warning'].includes(message.type()) && !expected) {
        this.problems.push(`console ${message.type()}: ${message.text()} ${message.location().url}`);
      }
    });
    page.on('pageerror', (error) => this.problems.push(`page error: ${error.message}`));
    page.on('request', (request) => {
      const {protocol, origin: of} = new URL(request.url());
      if (!['data:', 'blob:'].includes(protocol) && of !== this.origin) {
        this.problems.push(`request of another origin: ${request.url()}`);
      }
    });
  }

  /** open logs in and goes to an address below the root path. */
  async open(path: string, {user = 'ada', theme = 'light', fault}: Options = {}): Promise<void> {
    const {page} = this;
    this.failing = fault !== undefined || user === 'ben' || user === 'nobody';
    await page.addInitScript((value) => localStorage.setItem('view_preferences', JSON.stringify({theme: value})), theme);
    if (fault !== undefined) {
      await page.context().addCookies([{name: 'moorpin-host-fault', value: fault, url: this.origin}]);
    }
    if (user !== 'nobody') {
      await page.context().request.get(`${this.root}login-as/${user}`);
    }
    await page.goto(this.root + path);
  }

  /** view opens the application view of an Application. */
  async view(name: string, options: Options & {query?: string} = {}): Promise<void> {
    await this.open(`applications/argocd/${name}?view=Drift${options.query ?? ''}`, options);
  }

  /** tab opens the resource tab of a resource, by the key that Argo CD's address bar has for it. */
  async tab(application: string, key: string, options: Options = {}): Promise<void> {
    await this.open(`applications/argocd/${application}?node=${encodeURIComponent(`${key}/0`)}`, options);
    await this.page.locator('.tabs__nav').getByText('Drift', {exact: true}).click();
  }

  /** ours is the part of the page that is Moorpin's. */
  get ours(): Locator {
    return this.page.locator('.moorpin');
  }

  /** accessible fails where axe finds a violation in what is Moorpin's. */
  async accessible(): Promise<void> {
    await this.page.evaluate(axeSource);
    const violations = await this.page.evaluate(async () => {
      type Found = {id: string; help: string; nodes: {html: string; failureSummary?: string}[]};
      const axe = (window as unknown as {axe: {run(on: unknown, options: unknown): Promise<{violations: Found[]}>}}).axe;
      const found = await axe.run({include: [['.moorpin']]}, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']});
      return found.violations.map(({id, help, nodes}) => `${id}: ${help}\n${nodes.slice(0, 3).map((node) => `  ${node.html.slice(0, 300)}\n  ${node.failureSummary ?? ''}`).join('\n')}`);
    });
    expect(violations, 'axe-core').toEqual([]);
  }
}

function rootOf(info: TestInfo): string {
  const root: unknown = info.project.metadata.root;
  return typeof root === 'string' ? root : '/';
}

/** test gives every test a page of Argo CD, and holds it to the promises at its end. */
export const test = base.extend<{argo: Argo}>({
  argo: async ({page, baseURL}, use, info) => {
    const argo = new Argo(page, rootOf(info), new URL(baseURL ?? '').origin);
    await use(argo);
    expect(argo.problems, 'what the page must never do').toEqual([]);
  },
});

export {expect};
