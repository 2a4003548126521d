import * as React from 'react';

/**
 * Router is what Argo CD's history object is to the page: it knows the addresses that it
 * went to itself, and those that the browser's buttons bring back. What an extension
 * writes into the address bar behind its back, it does not see.
 */
export class Router {
    public readonly base = new URL(document.baseURI).pathname;
    private current = this.read();
    private readonly listeners = new Set<() => void>();

    public constructor() {
        window.addEventListener('popstate', () => this.moved());
    }

    public get path(): string {
        return this.current.path;
    }

    public get query(): URLSearchParams {
        return new URLSearchParams(this.current.search);
    }

    public go(path: string) {
        window.history.pushState(null, '', this.base + path.replace(/^\//, ''));
        this.moved();
    }

    /** with stays on the page and changes some of the query; null takes a parameter away. */
    public with(changes: Record<string, string | null>) {
        const query = this.query;
        for (const [name, value] of Object.entries(changes)) {
            if (value === null) {
                query.delete(name);
            } else {
                query.set(name, value);
            }
        }
        this.go(`${this.current.path}?${query}`);
    }

    public listen(listener: () => void): () => void {
        this.listeners.add(listener);
        return () => {
            this.listeners.delete(listener);
        };
    }

    private moved() {
        this.current = this.read();
        this.listeners.forEach(listener => listener());
    }

    private read() {
        const {pathname, search} = window.location;
        return {path: '/' + pathname.slice(this.base.length), search};
    }
}

/** useAgain renders again whenever one of the sources says that it changed. */
export function useAgain(...sources: Array<{listen(listener: () => void): () => void}>) {
    const [, setCount] = React.useState(0);
    React.useEffect(() => {
        const stops = sources.map(source => source.listen(() => setCount(count => count + 1)));
        return () => stops.forEach(stop => stop());
    }, sources);
}
