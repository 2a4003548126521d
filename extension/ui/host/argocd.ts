import type {Application, ApplicationTree, ResourceStatus, State} from './registry';

// Addresses are relative: the page's base holds the root path.

async function get<T>(path: string): Promise<T> {
    const reply = await fetch(path, {credentials: 'same-origin'});
    if (!reply.ok) {
        throw new Error(`${path}: ${reply.status}`);
    }
    return (await reply.json()) as T;
}

/** complete adds what Argo CD's page adds to what the API leaves out. */
function complete(application: Application): Application {
    return {...application, apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', status: {resources: [], ...application.status}};
}

const address = (name: string, rest = '', query: Record<string, string> = {}) =>
    `api/v1/applications/${encodeURIComponent(name)}${rest}?${new URLSearchParams(query)}`;

export async function listApplications(): Promise<Application[]> {
    const list = await get<{items?: Application[]}>('api/v1/applications?fields=items.metadata.name,items.metadata.namespace,items.status.sync.status,items.status.health');
    return (list.items || []).map(complete);
}

export async function getApplication(namespace: string, name: string): Promise<Application> {
    return complete(await get<Application>(address(name, '', {appNamespace: namespace})));
}

export function getTree(namespace: string, name: string): Promise<ApplicationTree> {
    return get<ApplicationTree>(address(name, '/resource-tree', {appNamespace: namespace}));
}

/** getLive is the resource as it is in the cluster; there may be none. */
export async function getLive(application: Application, resource: ResourceStatus): Promise<State | null> {
    const query = {
        appNamespace: application.metadata.namespace,
        namespace: resource.namespace || '',
        resourceName: resource.name,
        version: resource.version,
        kind: resource.kind,
        group: resource.group || ''
    };
    try {
        const {manifest} = await get<{manifest: string}>(address(application.metadata.name, '/resource', query));
        return JSON.parse(manifest) as State;
    } catch {
        return null;
    }
}

/** watchApplication hands out every change, each as a new object, until it is stopped. */
export function watchApplication(application: Application, changed: (application: Application) => void): () => void {
    const query = new URLSearchParams({name: application.metadata.name, appNamespace: application.metadata.namespace});
    const source = new EventSource(`api/v1/stream/applications?${query}`);
    source.onmessage = message => {
        const {result} = JSON.parse(message.data as string) as {result?: {type: string; application: Application}};
        if (result && result.type !== 'DELETED') {
            changed(complete(result.application));
        }
    };
    return () => source.close();
}
