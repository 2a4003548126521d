// The wire: what the backend answers, what Argo CD's API gives, and what Argo CD's
// page hands to an extension. Every shape mirrors a struct of the Go code, which has
// the last word; /openapi.json of the backend describes the same.

/** Any JSON value; a cluster may send every one of them. */
export type Json = null | boolean | number | string | Json[] | {[key: string]: Json};

/** A Kubernetes object in JSON; each reader expects any shape at all. */
export type KubeObject = {[key: string]: Json};

/** What `argocd app sync` would do now, the most harmless first. */
export type Sync =
  | 'nothing-to-do'
  | 'noop'
  | 'harmless-flap'
  | 'safe'
  | 'wait'
  | 'blocked'
  | 'will-fail'
  | 'fights-controller'
  | 'overwrites-live'
  | 'destructive';

export type Confidence = 'certain' | 'likely' | 'possible';

/** What a fix is an edit of. */
export type Where = 'git' | 'application' | 'appproject' | 'argocd-cm' | 'cluster' | 'operation';

/** Names an object. */
export interface ResourceRef {
  group: string;
  version?: string;
  kind: string;
  namespace?: string;
  name: string;
}

/** An entry of managedFields. */
export interface Owner {
  manager: string;
  operation: string;
  subresource?: string;
  /** RFC 3339, or absent. */
  time?: string;
}

/** One differing field. A side that lacks it has no key; null means null. */
export interface Field {
  /** RFC 6901. */
  pointer: string;
  target?: Json;
  live?: Json;
  owner?: Owner;
}

/** One way to make a finding go away. */
export interface Fix {
  kind: string;
  where: Where;
  snippet: string;
  proven: boolean;
  why: string;
}

/** One mechanism at work on one resource, or on the Application. */
export interface Finding {
  resource: ResourceRef;
  mechanism: string;
  class: string;
  flagged: boolean;
  summary: string;
  fields: Field[];
  confidence: Confidence;
  evidence: string[];
  sync: Sync;
  /** The live values that a sync would overwrite, with who wrote them. */
  loss?: string[];
  /** The recommended one first. */
  fixes: Fix[];
}

/** The answer for one Application. */
export interface Report {
  /** namespace/name */
  application: string;
  verdict: string;
  counts: {[mechanism: string]: number};
  findings: Finding[];
  sync: Sync;
  unheeded?: string[];
}

/** A report with when and from what it was made. */
export interface Answer {
  report: Report;
  version: string;
  comparedAt?: string;
  collectedAt?: string;
  warnings?: string[];
}

export type Feed = 'browser' | 'backend';

/** What the backend can do. */
export interface Capabilities {
  version: string;
  argocdVersion?: string;
  feeds: Feed[];
  limits: {bodyBytes: number; depth: number; values: number; seconds: number; rules: number};
}

/** One object of an Application on both sides. */
export interface SnapshotResource extends ResourceRef {
  target: KubeObject | null;
  live: KubeObject | null;
  normalizedLive?: KubeObject;
  predictedLive?: KubeObject;
  hook?: boolean;
}

/** An Application at one moment, as the backend explains it. */
export interface Snapshot {
  application: KubeObject;
  resources: SnapshotResource[];
  related?: KubeObject[];
  events?: KubeObject[];
  settings?: {[key: string]: Json};
}

/** An entry of an Application's spec.ignoreDifferences. */
export interface IgnoreRule {
  group?: string;
  kind: string;
  name?: string;
  namespace?: string;
  jsonPointers?: string[];
  jqPathExpressions?: string[];
  managedFieldsManagers?: string[];
}

export interface PreviewPlace {
  resource: ResourceRef;
  pointer: string;
}

export interface PreviewField extends PreviewPlace {
  mechanism?: string;
  sync?: Sync;
}

/** What further ignore rules would do. */
export interface Preview {
  hides: PreviewField[];
  remaining: number;
  synced: boolean;
  covers: PreviewPlace[];
  coversTotal: number;
  reveals?: PreviewField[];
  unheeded?: string[];
}

/** The body of every refusal of the backend. */
export interface Problem {
  error: string;
  hint?: string;
  part?: string;
}

/** What of an Application Argo CD's page hands over; the API leaves apiVersion and kind out. */
export interface Application {
  apiVersion?: string;
  kind?: string;
  metadata: {name: string; namespace?: string; [key: string]: unknown};
  spec?: {project?: string; [key: string]: unknown};
  status?: ApplicationStatus;
}

export interface ApplicationStatus {
  sync?: {status?: string; revision?: string; revisions?: string[]};
  health?: {status?: string};
  reconciledAt?: string;
  resources?: ResourceStatus[];
  conditions?: {type?: string; message?: string}[];
  operationState?: {phase?: string; startedAt?: string; finishedAt?: string; syncResult?: {resources?: {group?: string; version?: string; kind?: string; namespace?: string; name?: string; hookType?: string}[]}};
  [key: string]: unknown;
}

export interface ResourceStatus {
  group?: string;
  version?: string;
  kind: string;
  namespace?: string;
  name: string;
  status?: string;
  hook?: boolean;
  requiresPruning?: boolean;
  health?: {status?: string; message?: string};
}

/** A node of the Application's tree. */
export interface TreeNode {
  group?: string;
  version?: string;
  kind: string;
  namespace?: string;
  name: string;
  uid?: string;
  health?: {status?: string};
}

export interface Tree {
  nodes?: TreeNode[];
  orphanedNodes?: TreeNode[];
}

/** What Argo CD hands to the component of an application view, and to a fly-out. */
export interface AppViewProps {
  application: Application;
  tree?: Tree;
}

/** What Argo CD hands to the component of a resource tab. */
export interface ResourceTabProps {
  application: Application;
  tree?: Tree;
  /** The live object, managedFields as Argo CD gives them. */
  resource: KubeObject;
}

/** What Argo CD hands to the component of the status panel. */
export interface StatusPanelProps {
  application: Application;
  openFlyout: () => unknown;
}
