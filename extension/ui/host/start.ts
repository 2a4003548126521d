import * as React from 'react';
import {App} from './app';
import {Registry} from './registry';
import {Router} from './router';

/** start prepares what extensions find in the window, and returns what to mount where. */
export function start(): {element: React.ReactElement; container: HTMLElement} {
    const release = document.documentElement.dataset.argo || '2.14';
    const registry = new Registry();
    Object.assign(window, {extensions: {resources: {}}, extensionsAPI: registry.api(release)});
    const container = document.getElementById('app');
    if (!container) {
        throw new Error('the page has no element with the id "app"');
    }
    return {element: React.createElement(App, {registry, router: new Router()}), container};
}
