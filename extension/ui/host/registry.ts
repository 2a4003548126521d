import type * as React from 'react';

/** Application is what the host itself reads of one; extensions get all of it. */
export interface Application {
    apiVersion: string;
    kind: string;
    metadata: {name: string; namespace: string; resourceVersion?: string; [field: string]: unknown};
    spec: {project: string; source?: {repoURL: string; path?: string}; [field: string]: unknown};
    status: {
        sync?: {status: string; revision?: string};
        health?: {status: string};
        operationState?: {phase: string; finishedAt?: string; startedAt?: string; message?: string};
        resources?: ResourceStatus[];
        [field: string]: unknown;
    };
}

export interface ResourceStatus {
    group?: string;
    version: string;
    kind: string;
    namespace?: string;
    name: string;
    status?: string;
    health?: {status: string};
}

export interface ApplicationTree {
    nodes: Array<{group?: string; kind: string; namespace?: string; name: string; [field: string]: unknown}>;
    [field: string]: unknown;
}

export type State = Record<string, unknown> & {kind?: string};

interface AppProps {
    application: Application;
    tree: ApplicationTree;
}

export interface AppView {
    title: string;
    icon?: string;
    component: React.ComponentType<AppProps>;
    shouldDisplay?: (application: Application) => boolean;
}

export interface ResourceTab {
    title: string;
    icon?: string;
    group: string;
    kind: string;
    component: React.ComponentType<AppProps & {resource: State}>;
}

export interface StatusPanel {
    title: string;
    id: string;
    component: React.ComponentType<{application: Application; openFlyout: () => void}>;
    flyout?: React.ComponentType<AppProps>;
}

export interface SystemPage {
    title: string;
    path: string;
    icon: string;
    component: React.ComponentType;
}

type Listener = () => void;

/**
 * Registry is what extensions register with. A system page reaches only who listens at
 * that moment: Argo CD keeps no list of those for later.
 */
export class Registry {
    public readonly appViews: AppView[] = [];
    public readonly resourceTabs: ResourceTab[] = [];
    public readonly statusPanels: StatusPanel[] = [];
    private readonly listeners = new Set<Listener>();
    private systemListener: ((page: SystemPage) => void) | null = null;

    public listen(listener: Listener): () => void {
        this.listeners.add(listener);
        return () => {
            this.listeners.delete(listener);
        };
    }

    public listenForSystemPages(listener: (page: SystemPage) => void) {
        this.systemListener = listener;
    }

    /** tabsOf are the tabs of a resource, by title. */
    public tabsOf(group: string, kind: string): ResourceTab[] {
        return this.resourceTabs
            .filter(tab => matches(tab.group, group) && matches(tab.kind, kind))
            .sort((a, b) => a.title.localeCompare(b.title));
    }

    /** api is window.extensionsAPI of a release. */
    public api(release: string): Record<string, unknown> {
        const changed = () => this.listeners.forEach(listener => listener());
        return {
            registerResourceExtension: (component: ResourceTab['component'], group: string, kind: string, title: string, options?: {icon: string}) => {
                this.resourceTabs.push({component, group, kind, title, icon: options?.icon});
                changed();
            },
            registerSystemLevelExtension: (component: SystemPage['component'], title: string, path: string, icon: string) =>
                this.systemListener?.({component, title, path, icon}),
            registerAppViewExtension: (component: AppView['component'], title: string, icon: string, shouldDisplay?: AppView['shouldDisplay']) => {
                this.appViews.push({component, title, icon, shouldDisplay: release === '2.14' ? undefined : shouldDisplay});
                changed();
            },
            registerStatusPanelExtension: (component: StatusPanel['component'], title: string, id: string, flyout?: StatusPanel['flyout']) => {
                this.statusPanels.push({component, title, id, flyout});
                changed();
            },
            registerTopBarActionMenuExt: () => undefined
        };
    }
}

/** matches knows of minimatch what extensions use: any text, with or without a slash. */
function matches(pattern: string, text: string): boolean {
    const expression = pattern
        .split(/(\*+)/)
        .map(part => (part.startsWith('**') ? '.*' : part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')))
        .join('');
    return new RegExp(`^${expression}$`).test(text);
}
