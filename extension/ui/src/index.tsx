// Registers the surfaces with Argo CD's page: the application view, the resource tab,
// the status panel and the system page. Each works without the others, and where a
// version of Argo CD lacks one of the functions to register, that surface is left out.
import * as React from 'react';
import {nameOf} from './api';
import {ApplicationView} from './app/ApplicationView';
import {Flyout} from './panel/Flyout';
import {StatusPanel} from './panel/StatusPanel';
import {ErrorBoundary} from './parts/ErrorBoundary';
import {ResourceTab} from './resource/ResourceTab';
import {title} from './state';
import {addStyle} from './style';
import {SystemPage} from './system/SystemPage';
import type {Application, AppViewProps, ResourceTabProps, StatusPanelProps} from './types';

type Component<P> = (props: P) => React.ReactElement | null;

/** What Argo CD offers extensions; no version is sure to have all of it. */
interface ExtensionsAPI {
  registerAppViewExtension?: (component: Component<AppViewProps>, title: string, icon: string, shouldDisplay?: (app: Application) => boolean) => void;
  registerResourceExtension?: (component: Component<ResourceTabProps>, group: string, kind: string, title: string, options: {icon: string}) => void;
  registerStatusPanelExtension?: (component: Component<StatusPanelProps>, title: string, id: string, flyout: Component<AppViewProps>) => void;
  registerSystemLevelExtension?: (component: Component<Record<string, never>>, title: string, path: string, icon: string) => void;
}

/** The URL of Argo CD's page names the fly-out that is open by this. */
const panelId = 'moorpin';
const icon = 'fa-code-branch';

/** Wraps a surface so that its failure stays its own, and keeps it off what is no Application. */
function surface<P extends {application?: Application}>(name: string, View: Component<P>): Component<P> {
  return function Surface(props: P) {
    if ('application' in props && !isApplication(props.application)) {
      return null;
    }
    return (
      <ErrorBoundary key={props.application === undefined ? '' : nameOf(props.application)} surface={name}>
        <View {...props} />
      </ErrorBoundary>
    );
  };
}

/** From v3.4 on, a resource tab is shown on ApplicationSets too, with one as `application`. */
function isApplication(app: Application | undefined): boolean {
  if (app?.metadata?.name === undefined || (app.kind !== undefined && app.kind !== 'Application')) {
    return false;
  }
  const spec = app.spec ?? {};
  return !('generators' in spec);
}

/**
 * Does something once the page has mounted: from v3.5 on, a system page that is
 * registered earlier is lost.
 */
function afterMount(act: () => void): void {
  const root = document.getElementById('app');
  if (root === null || root.childElementCount > 0) {
    act();
    return;
  }
  const observer = new MutationObserver(() => {
    if (root.childElementCount > 0) {
      observer.disconnect();
      act();
    }
  });
  observer.observe(root, {childList: true});
}

function register(api: ExtensionsAPI): void {
  addStyle();
  const view = surface('The Drift view', ApplicationView);
  const tab = surface('The Drift tab', ResourceTab);
  const chip = surface('Drift', StatusPanel);
  const flyout = surface('The Drift summary', Flyout);
  const page = surface('The Drift page', SystemPage);
  api.registerAppViewExtension?.(view, title, icon, isApplication);
  api.registerResourceExtension?.(tab, '**', '*', title, {icon});
  api.registerStatusPanelExtension?.(chip, title, panelId, flyout);
  if (api.registerSystemLevelExtension !== undefined) {
    afterMount(() => api.registerSystemLevelExtension?.(page, title, '/moorpin', icon));
  }
}

const host = window as Window & {extensionsAPI?: ExtensionsAPI};
if (host.extensionsAPI !== undefined) {
  register(host.extensionsAPI);
}
