// What a snapshot says of Argo CD's configuration, as far as every user may ask.
import type {Collecting} from './collect';

interface Override {
  ignoreDifferences?: string;
  knownTypeFields?: unknown[];
  [key: string]: unknown;
}

interface Told {
  appLabelKey?: string;
  trackingMethod?: string;
  installationID?: string;
  resourceOverrides?: {[kind: string]: Override};
}

/** The settings of the snapshot, as JSON, and the version among them. */
export async function settingsOf(collecting: Collecting): Promise<{text: string; argocdVersion?: string}> {
  const [version, told, commit] = await Promise.all([
    collecting.perhaps("Argo CD's version", collecting.argo('api/version')),
    collecting.perhaps("Argo CD's settings", collecting.argo('api/v1/settings')),
    lastCommit(collecting),
  ]);
  const argocdVersion = version === undefined ? undefined : (JSON.parse(version) as {Version?: string}).Version?.split('+')[0];
  const settings: {[key: string]: unknown} = {now: new Date().toISOString().replace(/\.\d+Z$/, 'Z'), argocdVersion};
  if (told !== undefined) {
    Object.assign(settings, customised(JSON.parse(told) as Told));
  }
  if (commit !== undefined) {
    settings.lastCommit = commit;
  }
  return {text: JSON.stringify(settings), argocdVersion};
}

/** What of argocd-cm bears on comparing. */
function customised(told: Told): {[key: string]: unknown} {
  const overrides = told.resourceOverrides ?? {};
  const kept: {[kind: string]: Override} = {};
  for (const [kind, override] of Object.entries(overrides)) {
    if (override.ignoreDifferences?.includes('- ') === true || (override.knownTypeFields ?? []).length > 0) {
      const {ignoreDifferences, knownTypeFields} = override;
      kept[kind] = {ignoreDifferences, knownTypeFields};
    }
  }
  return {
    trackingMethod: told.trackingMethod || undefined,
    instanceLabelKey: told.appLabelKey || undefined,
    installationID: told.installationID || undefined,
    'resource.compareoptions': `ignoreResourceStatusField: ${ignoredStatus(overrides)}`,
    'resource.customizations': Object.keys(kept).length > 0 ? JSON.stringify(kept) : undefined,
  };
}

/** The option that made Argo CD add the override which ignores status. */
function ignoredStatus(overrides: {[kind: string]: Override}): string {
  const ignores = (kind: string): boolean => overrides[kind]?.ignoreDifferences?.includes('- /status\n') === true;
  if (ignores('*/*')) {
    return 'all';
  }
  return ignores('apiextensions.k8s.io/CustomResourceDefinition') ? 'crd' : '"off"';
}

/** When the newest commit of the first source was made; a chart has no such time. */
async function lastCommit({app, about, perhaps}: Collecting): Promise<{revision: string; time: string} | undefined> {
  const revision = app.status?.sync?.revisions?.[0] ?? app.status?.sync?.revision ?? '';
  if (!/^[0-9a-f]{40,}$/.test(revision)) {
    return undefined;
  }
  const found = await perhaps('the time of the newest commit', about(`/revisions/${revision}/metadata`));
  const date = found === undefined ? undefined : (JSON.parse(found) as {date?: string}).date;
  return date === undefined ? undefined : {revision, time: date};
}
