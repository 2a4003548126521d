import * as React from 'react';
import {listApplications} from './argocd';
import {Details} from './details';
import {Boundary, Health, Page, Sync} from './parts';
import type {Application, Registry, SystemPage} from './registry';
import type {Router} from './router';
import { useAgain} from './router';

/** preferences are where Argo CD's page keeps them. */
function theme(): 'light' | 'dark' {
    try {
        const preferences = JSON.parse(window.localStorage.getItem('view_preferences') || '{}') as {theme?: string};
        return preferences.theme === 'dark' ? 'dark' : 'light';
    } catch {
        return 'light';
    }
}

function setTheme(value: string) {
    window.localStorage.setItem('view_preferences', JSON.stringify({theme: value}));
    window.location.reload();
}

interface Props {
    registry: Registry;
    router: Router;
}

/** App is Argo CD's page, whose part it plays. */
export function App(props: Props) {
    return (
        <Boundary message='Something went wrong!'>
            <Shell {...props} />
        </Boundary>
    );
}

function Shell({registry, router}: Props) {
    useAgain(router, registry);
    const [pages, setPages] = React.useState<SystemPage[]>([]);
    const listening = React.useRef(false);
    if (!listening.current) {
        // In the first render, as the constructor of Argo CD's page does it.
        listening.current = true;
        registry.listenForSystemPages(page => setPages(before => before.concat(page)));
    }
    React.useEffect(() => {
        document.body.style.background = theme() === 'light' ? '#dee6eb' : '#100f0f';
    }, []);
    return (
        <div className={`theme-${theme()}`}>
            <div className='cd-layout'>
                <Sidebar router={router} pages={pages} />
                <div className='cd-layout__content cd-layout__content--sb-expanded custom-styles'>
                    <Content router={router} registry={registry} pages={pages} />
                </div>
            </div>
        </div>
    );
}

function Content({router, registry, pages}: {router: Router; registry: Registry; pages: SystemPage[]}) {
    const [, first, namespace, name] = router.path.split('/');
    const page = pages.find(one => router.path === one.path || router.path.startsWith(`${one.path}/`));
    if (page) {
        return (
            <Page title={page.title}>
                <page.component />
            </Page>
        );
    }
    if (first === 'applications' && namespace && name) {
        return <Details key={`${namespace}/${name}`} {...{namespace, name, router, registry}} />;
    }
    if (first === 'settings') {
        return (
            <Page title='Settings'>
                <div className='argo-container'>
                    <button className='argo-button argo-button--base' onClick={() => setTheme(theme() === 'dark' ? 'light' : 'dark')}>
                        Change theme
                    </button>
                </div>
            </Page>
        );
    }
    return first === 'applications' || !first ? <Applications router={router} /> : null;
}

function Applications({router}: {router: Router}) {
    const [list, setList] = React.useState<Application[]>([]);
    const [problem, setProblem] = React.useState('');
    React.useEffect(() => {
        listApplications().then(setList, (error: Error) => setProblem(error.message));
    }, []);
    return (
        <Page title='Applications'>
            <div className='argo-container'>
                {problem}
                <div className='argo-table-list argo-table-list--clickable'>
                    {list.map(one => (
                        <div key={one.metadata.name} className='argo-table-list__row'>
                            <div className='row'>
                                <button
                                    className='columns small-6 argo-table-list__name'
                                    onClick={() => router.go(`applications/${one.metadata.namespace}/${one.metadata.name}`)}>
                                    {one.metadata.name}
                                </button>
                                <div className='columns small-3'>
                                    <Health status={one.status.health?.status} />
                                </div>
                                <div className='columns small-3'>
                                    <Sync status={one.status.sync?.status} />
                                </div>
                            </div>
                        </div>
                    ))}
                </div>
            </div>
        </Page>
    );
}

const navigation = [
    {title: 'Applications', path: '/applications', icon: 'fa-layer-group'},
    {title: 'Settings', path: '/settings', icon: 'fa-cog'},
    {title: 'User Info', path: '/user-info', icon: 'fa-user-circle'},
    {title: 'Documentation', path: '/help', icon: 'fa-book'}
];

function Sidebar({router, pages}: {router: Router; pages: SystemPage[]}) {
    return (
        <nav className='sidebar' aria-label='Argo CD'>
            <div className='sidebar__container'>
                <div className='sidebar__logo'>argo</div>
                {navigation.concat(pages).map(item => (
                    <button
                        key={item.path}
                        className={`sidebar__nav-item ${router.path.startsWith(item.path) ? 'sidebar__nav-item--active' : ''}`}
                        onClick={() => router.go(item.path)}>
                        <i className={`fa ${item.icon}`} aria-hidden='true' /> {item.title}
                    </button>
                ))}
            </div>
        </nav>
    );
}
