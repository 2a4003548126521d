import * as React from 'react';

/** Page is a page of Argo CD with its bar at the top. */
export function Page(props: {title: string; breadcrumbs?: React.ReactNode; left?: React.ReactNode; tools?: React.ReactNode; children: React.ReactNode}) {
    const toolbar = props.left || props.tools;
    return (
        <div className='sb-page-wrapper'>
            <div className={`page ${toolbar ? 'page--has-toolbar' : ''}`}>
                <div className='page__top-bar'>
                    <div className='top-bar row top-bar__titles'>
                        <div className='top-bar__left-side'>{props.breadcrumbs || <div className='top-bar__title'>{props.title}</div>}</div>
                        {props.breadcrumbs && <div className='top-bar__title'>{props.title}</div>}
                    </div>
                    {toolbar && (
                        <div className='top-bar row'>
                            <div className='top-bar__left-side'>{props.left}</div>
                            <div className='top-bar__right-side'>
                                {props.tools} <button className='login-logout-button'>Log out</button>
                            </div>
                        </div>
                    )}
                </div>
                <div className='page__content-wrapper'>{props.children}</div>
            </div>
        </div>
    );
}

/** SlidingPanel comes from the right, over the page. */
export function SlidingPanel(props: {shown: boolean; onClose: () => void; children: React.ReactNode}) {
    return (
        <div className={`sliding-panel ${props.shown ? 'sliding-panel--opened' : ''}`}>
            <div className='sliding-panel__wrapper'>
                <button className='sliding-panel__close' aria-label='Close' onClick={props.onClose}>
                    <i className='fa fa-times' aria-hidden='true' />
                </button>
                <div className='sliding-panel__body'>{props.shown && props.children}</div>
            </div>
            <div className='sliding-panel__outside' onClick={props.onClose} aria-hidden='true' />
        </div>
    );
}

/** Tab is one of [Tabs]. */
export interface Tab {
    title: string;
    key: string;
    icon?: string;
    content: React.ReactNode;
}

/** Tabs shows one of several contents. */
export function Tabs(props: {tabs: Tab[]; selected: string; onSelect: (key: string) => void}) {
    const selected = props.tabs.find(tab => tab.key === props.selected) || props.tabs[0];
    return (
        <div className='tabs'>
            <div className='tabs__nav transparent'>
                {props.tabs.map(tab => (
                    <a
                        key={tab.key}
                        href={`#${tab.key}`}
                        className={tab === selected ? 'active' : ''}
                        onClick={event => {
                            event.preventDefault();
                            props.onSelect(tab.key);
                        }}>
                        {tab.icon && <i className={`fa ${tab.icon}`} aria-hidden='true' />} {tab.title}
                    </a>
                ))}
            </div>
            <div className='tabs__content'>{selected && selected.content}</div>
        </div>
    );
}

/** Boundary is the one that Argo CD puts around the tabs of resources, and around all of the page. */
export class Boundary extends React.Component<{message: string}, {broken: boolean}> {
    public static getDerivedStateFromError() {
        return {broken: true};
    }

    public override state = {broken: false};

    public override render() {
        return this.state.broken ? <h1>{this.props.message}</h1> : this.props.children;
    }
}

const syncIcons: Record<string, string> = {Synced: 'fa-check-circle', OutOfSync: 'fa-arrow-alt-circle-up'};
const healthIcons: Record<string, string> = {Healthy: 'fa-heart', Degraded: 'fa-heart-broken', Progressing: 'fa-circle-notch', Missing: 'fa-ghost'};

/** Sync is a sync status with its icon. */
export function Sync({status}: {status?: string}) {
    return (
        <span>
            <i className={`fa ${syncIcons[status || ''] || 'fa-circle-notch'} argo-sync--${status}`} aria-hidden='true' /> {status || 'Unknown'}
        </span>
    );
}

/** Health is a health status with its icon. */
export function Health({status}: {status?: string}) {
    return (
        <span>
            <i className={`fa ${healthIcons[status || ''] || 'fa-question-circle'} argo-health--${status}`} aria-hidden='true' /> {status || 'Unknown'}
        </span>
    );
}
