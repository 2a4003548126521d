import * as React from 'react';
import {getLive} from './argocd';
import type { Tab} from './parts';
import {Boundary, Sync, Tabs} from './parts';
import type {Application, ApplicationTree, Registry, ResourceStatus, State} from './registry';
import type {Router} from './router';

interface Props {
    application: Application;
    tree: ApplicationTree;
    resource: ResourceStatus;
    registry: Registry;
    router: Router;
}

/** ResourcePanel is what slides in for one resource. Tabs of extensions need a live object. */
export function ResourcePanel({application, tree, resource, registry, router}: Props) {
    const [live, setLive] = React.useState<{state: State | null} | null>(null);
    React.useEffect(() => {
        let gone = false;
        getLive(application, resource).then(state => !gone && setLive({state}));
        return () => {
            gone = true;
        };
        // Another resource is another panel, and a refresh does not read it again.
    }, []);
    if (!live) {
        return null;
    }
    const tabs: Tab[] = [{title: 'Summary', key: 'summary', icon: 'fa-file-alt', content: <Summary resource={resource} />}];
    if (live.state) {
        const state = live.state;
        registry.tabsOf(resource.group || '', resource.kind).forEach((one, i) =>
            tabs.push({
                title: one.title,
                key: `extension-${i}`,
                icon: one.icon,
                content: (
                    <Boundary message={`Something went wrong with Extension for ${resource.kind}`}>
                        <one.component tree={tree} resource={state} application={application} />
                    </Boundary>
                )
            })
        );
    }
    return (
        <div style={{width: '100%', height: '100%'}}>
            <div className='resource-details__header'>
                <h1>{resource.name}</h1> <Sync status={resource.status} />
            </div>
            <Tabs tabs={tabs} selected={router.query.get('tab') || 'summary'} onSelect={tab => router.with({tab})} />
        </div>
    );
}

function Summary({resource}: {resource: ResourceStatus}) {
    const rows = [
        ['Kind', resource.kind],
        ['Name', resource.name],
        ['Namespace', resource.namespace || ''],
        ['Status', resource.status || '']
    ];
    return (
        <div className='white-box'>
            <div className='white-box__details'>
                {rows.map(([name, value]) => (
                    <div key={name} className='row white-box__details-row'>
                        <div className='columns small-3'>{(name || '').toUpperCase()}</div>
                        <div className='columns small-9'>{value}</div>
                    </div>
                ))}
            </div>
        </div>
    );
}
