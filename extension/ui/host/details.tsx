import * as React from 'react';
import {getApplication, getTree, watchApplication} from './argocd';
import {Health, Page, SlidingPanel, Sync} from './parts';
import type {Application, ApplicationTree, Registry, ResourceStatus} from './registry';
import {ResourcePanel} from './resource';
import type {Router} from './router';

const builtIn = [
    {title: 'tree', icon: 'fa-sitemap'},
    {title: 'pods', icon: 'fa-th'},
    {title: 'network', icon: 'fa-network-wired'},
    {title: 'list', icon: 'fa-th-list'}
];

/** nodeKey is how Argo CD names a resource in its address bar. */
function nodeKey(resource: {group?: string; kind: string; namespace?: string; name: string}): string {
    return [resource.group || '', resource.kind, resource.namespace || '', resource.name, 0].join('/');
}

function useApplication(namespace: string, name: string) {
    const [loaded, setLoaded] = React.useState<{application: Application; tree: ApplicationTree} | null>(null);
    const [problem, setProblem] = React.useState('');
    React.useEffect(() => {
        let stop: () => void = () => undefined;
        let gone = false;
        Promise.all([getApplication(namespace, name), getTree(namespace, name)]).then(
            ([application, tree]) => {
                if (gone) {
                    return;
                }
                setLoaded({application, tree});
                stop = watchApplication(application, next => setLoaded(before => before && {...before, application: next}));
            },
            (error: Error) => setProblem(error.message)
        );
        return () => {
            gone = true;
            stop();
        };
    }, [namespace, name]);
    return {loaded, problem};
}

/** Details is the page of one Application. */
export function Details(props: {namespace: string; name: string; router: Router; registry: Registry}) {
    const {router, registry} = props;
    const {loaded, problem} = useApplication(props.namespace, props.name);
    if (!loaded) {
        return <Page title='Application Details'>{problem ? <div className='argo-container'>Unable to load data: {problem}</div> : null}</Page>;
    }
    const {application, tree} = loaded;
    const views = registry.appViews.filter(view => !view.shouldDisplay || view.shouldDisplay(application));
    const selected = router.query.get('view') || 'list';
    const view = views.find(one => one.title === selected);
    const node = router.query.get('node');
    const resource = (application.status.resources || []).find(one => nodeKey(one) === node);
    const panel = registry.statusPanels.find(one => one.id === router.query.get('extension'));
    return (
        <div className='application-details'>
            <Page
                title={view ? '' : 'Application Details List'}
                breadcrumbs={
                    <div className='top-bar__breadcrumbs'>
                        <a href='applications'>Applications</a> <span className='top-bar__sep' /> {application.metadata.name}
                    </div>
                }
                left={<Actions />}
                tools={
                    <div className='application-details__view-type'>
                        {builtIn.concat(views.map(one => ({title: one.title, icon: one.icon || ''}))).map(one => (
                            <button key={one.title} title={one.title} aria-label={one.title} onClick={() => router.with({view: one.title})}>
                                <i className={`fa ${one.icon} ${selected === one.title ? 'selected' : ''}`} />
                            </button>
                        ))}
                    </div>
                }>
                <div className='application-details__wrapper'>
                    <div className='application-details__status-panel'>
                        <StatusPanel application={application} registry={registry} router={router} />
                    </div>
                    <div className='application-details__tree'>
                        {view ? (
                            <view.component application={application} tree={tree} />
                        ) : (
                            <Resources resources={application.status.resources || []} onSelect={one => router.with({node: nodeKey(one)})} />
                        )}
                    </div>
                </div>
                <SlidingPanel shown={!!resource} onClose={() => router.with({node: null, tab: null})}>
                    {resource && <ResourcePanel key={nodeKey(resource)} {...{application, tree, resource, registry, router}} />}
                </SlidingPanel>
                <SlidingPanel shown={!!panel?.flyout} onClose={() => router.with({extension: null})}>
                    {panel?.flyout && <panel.flyout application={application} tree={tree} />}
                </SlidingPanel>
            </Page>
        </div>
    );
}

const actions = [
    ['fa-info-circle', 'Details'],
    ['fa-file-medical', 'Diff'],
    ['fa-sync', 'Sync'],
    ['fa-info-circle', 'Sync status'],
    ['fa-history', 'History and rollback'],
    ['fa-times-circle', 'Delete'],
    ['fa-redo', 'Refresh']
];

/** Actions are Argo CD's own; here they do nothing. */
function Actions() {
    return (
        <div>
            {actions.map(([icon, title]) => (
                <button key={title} className='argo-button argo-button--base'>
                    <i className={`fa ${icon}`} aria-hidden='true' /> <span className='show-for-large'>{title}</span>
                </button>
            ))}
        </div>
    );
}

function StatusPanel({application, registry, router}: {application: Application; registry: Registry; router: Router}) {
    const {sync, health, operationState} = application.status;
    return (
        <div className='application-status-panel row'>
            <Item label='App health' value={<Health status={health?.status} />} />
            <Item
                label='Sync status'
                value={
                    <React.Fragment>
                        <Sync status={sync?.status} /> <span className='application-status-panel__item-value__revision'>from {(sync?.revision || '').slice(0, 7)}</span>
                    </React.Fragment>
                }
                name='Auto sync is not enabled.'
            />
            {operationState && <Item label='Last sync' value={<span>Sync {operationState.phase === 'Succeeded' ? 'OK' : operationState.phase}</span>} name={operationState.phase} />}
            {registry.statusPanels.map(one => (
                <one.component key={one.title} application={application} openFlyout={() => router.with({extension: one.id})} />
            ))}
        </div>
    );
}

function Item(props: {label: string; value: React.ReactNode; name?: string}) {
    return (
        <div className='application-status-panel__item'>
            <div className='application-status-panel__item-label'>{props.label.toUpperCase()}</div>
            <div className='application-status-panel__item-value'>{props.value}</div>
            {props.name && <div className='application-status-panel__item-name'>{props.name}</div>}
        </div>
    );
}

function Resources(props: {resources: ResourceStatus[]; onSelect: (resource: ResourceStatus) => void}) {
    return (
        <div className='argo-table-list argo-table-list--clickable'>
            <div className='argo-table-list__head'>
                <div className='row'>
                    <div className='columns small-5'>Name</div>
                    <div className='columns small-4'>Group/Kind</div>
                    <div className='columns small-3'>Sync status</div>
                </div>
            </div>
            {props.resources.map(one => (
                <div key={nodeKey(one)} className='argo-table-list__row'>
                    <div className='row'>
                        <button className='columns small-5 argo-table-list__name' onClick={() => props.onSelect(one)}>
                            {one.name}
                        </button>
                        <div className='columns small-4'>{[one.group, one.kind].filter(Boolean).join('/')}</div>
                        <div className='columns small-3'>
                            <Sync status={one.status} />
                        </div>
                    </div>
                </div>
            ))}
        </div>
    );
}
