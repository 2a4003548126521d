declare module 'react-dom/client' {
    export function createRoot(container: Element): {render(element: React.ReactNode): void};
}
declare module 'react/jsx-runtime';
