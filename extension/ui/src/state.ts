// The state of the view in the page's URL, so that a link shows what its sender saw:
//
//   ?view=Drift&moorpin=mechanism:hpa-replicas~q:web
//
// Argo CD's own router is told of moves only where the page itself has to change.
import type {Application, ResourceRef} from './types';
import {resourceKey} from './text';

/** What is chosen in the application view. */
export interface ViewState {
  mechanism: string;
  kind: string;
  /** Only what needs action. */
  action: boolean;
  search: string;
  /** The finding that is open, see findingKey; "" is none. */
  open: string;
  /** Compare Synced resources too. */
  all: boolean;
  /** The editor of ignore rules is open. */
  editor: boolean;
}

export const initial: ViewState = {mechanism: '', kind: '', action: false, search: '', open: '', all: false, editor: false};

/** What the view is called, also in the URL. */
export const title = 'Drift';
const parameter = 'moorpin';
const keys: {[field in keyof ViewState]: string} = {mechanism: 'mechanism', kind: 'kind', action: 'action', search: 'q', open: 'open', all: 'all', editor: 'editor'};

/** The state as the value of the parameter; "" for the initial one. */
export function encode(state: ViewState): string {
  const pairs: string[] = [];
  for (const field of Object.keys(keys) as (keyof ViewState)[]) {
    const value = state[field];
    if (value !== initial[field]) {
      pairs.push(`${keys[field]}:${typeof value === 'string' ? encodeURIComponent(value).replace(/~/g, '%7E') : '1'}`);
    }
  }
  return pairs.join('~');
}

/** What a parameter's value says; what it says wrongly is as if it did not. */
export function decode(value: string | null): ViewState {
  const state: ViewState = {...initial};
  for (const pair of (value ?? '').split('~')) {
    const at = pair.indexOf(':');
    const [key, raw] = [pair.slice(0, at), pair.slice(at + 1)];
    const field = (Object.keys(keys) as (keyof ViewState)[]).find((name) => keys[name] === key);
    if (at < 0 || field === undefined) {
      continue;
    }
    if (field === 'action' || field === 'all' || field === 'editor') {
      state[field] = raw === '1';
    } else {
      state[field] = decoded(raw);
    }
  }
  return state;
}

function decoded(raw: string): string {
  try {
    return decodeURIComponent(raw).slice(0, 500);
  } catch {
    return '';
  }
}

/** The state in the page's URL. */
export function read(): ViewState {
  return decode(new URLSearchParams(window.location.search).get(parameter));
}

/**
 * Writes the state into the page's URL, in place: going back leaves the view. Argo CD shows
 * the view that was used last where the URL names none; a link with a state has to name it.
 * A URL of another view or page is left alone: then this one is about to go.
 */
export function write(state: ViewState, page: string = window.location.pathname): void {
  const query = new URLSearchParams(window.location.search);
  if (page !== window.location.pathname || (query.get('view') ?? title) !== title) {
    return;
  }
  const value = encode(state);
  if (value === '') {
    query.delete(parameter);
  } else {
    query.set('view', title);
    query.set(parameter, value);
  }
  const search = query.toString();
  const url = window.location.pathname + (search === '' ? '' : `?${search}`) + window.location.hash;
  if (url !== window.location.pathname + window.location.search + window.location.hash) {
    try {
      window.history.replaceState(window.history.state, '', url);
    } catch {
      // Safari allows a hundred of them in half a minute; the next one says the same and more.
    }
  }
}

/** Names a finding, also in the report of a later comparison. */
export function findingKey(finding: {mechanism: string; resource: ResourceRef}): string {
  return `${finding.mechanism}/${resourceKey(finding.resource)}`;
}

/** A relative link to the application view of an Application in some state. */
export function viewLink(app: Application, state: Partial<ViewState> = {}): string {
  const query = new URLSearchParams({view: title});
  const value = encode({...initial, ...state});
  if (value !== '') {
    query.set(parameter, value);
  }
  const {namespace, name} = app.metadata;
  const path = namespace === undefined ? encodeURIComponent(name) : `${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  return `applications/${path}?${query.toString()}`;
}

/**
 * Goes to a page of Argo CD without loading it anew: its router listens to moves
 * through the browser's history.
 */
export function navigate(link: string): void {
  const url = new URL(link, document.baseURI);
  window.history.pushState(null, '', url.pathname + url.search + url.hash);
  window.dispatchEvent(new PopStateEvent('popstate', {state: null}));
}

/** For links: a plain click goes there within the page, any other as the browser does it. */
export function onLink(event: {button: number; metaKey: boolean; ctrlKey: boolean; shiftKey: boolean; altKey: boolean; preventDefault: () => void}, link: string): void {
  if (event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    navigate(link);
  }
}
