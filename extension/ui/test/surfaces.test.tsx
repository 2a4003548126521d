// The panel, the resource tab and the system page on the reports that the backend makes.
import * as React from 'react';
import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import {Flyout} from '../src/panel/Flyout';
import {StatusPanel} from '../src/panel/StatusPanel';
import {forgetReports} from '../src/panel/shared';
import {ResourceTab} from '../src/resource/ResourceTab';
import {forgetAll} from '../src/system/memory';
import {countsOf} from '../src/system/summary';
import {SystemPage} from '../src/system/SystemPage';
import {loses, mechanismLabel, syncLabel} from '../src/text';
import type {Answer, Application, KubeObject} from '../src/types';
import autoscaler from './fixtures/autoscaler.json';
import blocked from './fixtures/blocked.json';
import defaults from './fixtures/defaults.json';
import edited from './fixtures/edited.json';
import prune from './fixtures/prune.json';
import random from './fixtures/random.json';
import several from './fixtures/several.json';
import shared from './fixtures/shared.json';
import synced from './fixtures/synced.json';
import unhealthy from './fixtures/unhealthy.json';
import {application, loaded} from './made';
import {mount, type Mounted} from './mount';

const load = vi.hoisted(() => vi.fn());
const listApplications = vi.hoisted(() => vi.fn());
vi.mock('../src/api', async (original) => ({...(await original<typeof import('../src/api')>()), load, listApplications}));

const fixtures = {autoscaler, blocked, defaults, edited, prune, random, several, shared, synced, unhealthy} as unknown as {[name: string]: Answer};
let page: Mounted | undefined;

beforeEach(() => {
  forgetReports();
  forgetAll();
});
afterEach(async () => {
  await page?.unmount();
  page = undefined;
});

async function shown(element: React.ReactElement): Promise<HTMLElement> {
  page = await mount(element);
  return page.container;
}

describe.each(Object.entries(fixtures))('on the report "%s"', (_, {report}) => {
  const [namespace = '', name = ''] = report.application.split('/');
  const findings = report.findings.filter(({mechanism}) => mechanism !== 'none');
  const app: Application = application(
    name,
    'OutOfSync',
    findings.map(({resource}) => ({...resource, status: 'OutOfSync'})),
  );
  app.metadata.namespace = namespace;
  beforeEach(() => {
    load.mockResolvedValue(loaded(report));
    listApplications.mockResolvedValue([app]);
  });

  it('the chip counts the findings and is loud about a loss alone', async () => {
    const container = await shown(<StatusPanel application={app} openFlyout={vi.fn()} />);
    expect(container.textContent).toContain(findings.length === 0 ? 'No drift' : `${findings.length} finding`);
    expect(container.querySelector('.moorpin-chip__detail--loud') !== null).toBe(findings.some(loses));
  });

  it('the fly-out names every mechanism with what a sync would do', async () => {
    const container = await shown(<Flyout application={app} />);
    expect(container.querySelector('h2')?.textContent).toBe(report.verdict);
    const rows = Array.from(container.querySelectorAll('li a')).map((row) => row.textContent ?? '');
    const wanted = countsOf(report);
    expect(rows).toHaveLength(wanted.length);
    wanted.forEach(({mechanism, sync}, i) => {
      expect(rows[i]).toContain(mechanismLabel(mechanism));
      expect(rows[i]).toContain(syncLabel(sync));
    });
  });

  it('each resource has a tab with its own findings, open', async () => {
    for (const {resource} of findings) {
      const live: KubeObject = {apiVersion: resource.group === '' ? 'v1' : `${resource.group}/v1`, kind: resource.kind, metadata: {name: resource.name, namespace: resource.namespace ?? ''}};
      const container = await shown(<ResourceTab application={app} resource={live} />);
      const own = findings.filter((one) => one.resource.kind === resource.kind && one.resource.name === resource.name && one.resource.namespace === resource.namespace);
      expect(container.querySelectorAll('.moorpin-finding--open')).toHaveLength(own.length);
      own.forEach(({summary}) => expect(container.textContent).toContain(summary));
      await page?.unmount();
    }
    page = undefined;
  });

  it('the system page has a row for every mechanism', async () => {
    const container = await shown(<SystemPage />);
    const rows = Array.from(container.querySelectorAll('.moorpin-why__head strong')).map((row) => row.textContent);
    expect(rows).toEqual(countsOf(report).map(({mechanism}) => mechanismLabel(mechanism)));
  });
});
