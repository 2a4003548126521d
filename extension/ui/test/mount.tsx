// Draws a component on the React that the tests run on, 16 or 19, as Argo CD does.
import type * as React from 'react';

interface Renderer {
  act: (work: () => Promise<void>) => Promise<void>;
  draw: (element: React.ReactElement, container: Element) => () => void;
  redraw: (element: React.ReactElement, container: Element) => void;
}

/** What is on the page. */
export interface Mounted {
  container: HTMLElement;
  redraw: (element: React.ReactElement) => Promise<void>;
  unmount: () => Promise<void>;
}

let renderer: Renderer | undefined;

async function load(): Promise<Renderer> {
  if (process.env.REACT === '16') {
    const dom = (await import('react-dom16' as string)) as {default: {render: (e: React.ReactElement, c: Element) => void; unmountComponentAtNode: (c: Element) => boolean}};
    const utils = (await import('react-dom16/test-utils' as string)) as {act: Renderer['act']};
    const redraw = (element: React.ReactElement, container: Element): void => dom.default.render(element, container);
    return {
      act: utils.act,
      redraw,
      draw: (element, container) => {
        redraw(element, container);
        return () => dom.default.unmountComponentAtNode(container);
      },
    };
  }
  Object.assign(globalThis, {IS_REACT_ACT_ENVIRONMENT: true});
  const react = (await import('react19' as string)) as {act: Renderer['act']};
  const client = (await import('react-dom19/client' as string)) as {createRoot: (c: Element) => {render: (e: React.ReactElement) => void; unmount: () => void}};
  const roots = new Map<Element, ReturnType<typeof client.createRoot>>();
  return {
    act: react.act,
    redraw: (element, container) => roots.get(container)?.render(element),
    draw: (element, container) => {
      const root = client.createRoot(container);
      roots.set(container, root);
      root.render(element);
      return () => root.unmount();
    },
  };
}

/** Does something, and lets what is under way come to an end; longer where timers have to run out. */
export async function settle(work: () => void = () => undefined, milliseconds = 0): Promise<void> {
  renderer = renderer ?? (await load());
  const {act} = renderer;
  await act(async () => {
    work();
    await after(milliseconds);
  });
  // What one round of drawing starts, the next one draws.
  for (let i = 0; i < 3; i++) {
    await act(() => after(0));
  }
}

function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Draws the element, and lets what it starts come to an end. */
export async function mount(element: React.ReactElement): Promise<Mounted> {
  renderer = renderer ?? (await load());
  const container = document.createElement('div');
  document.body.appendChild(container);
  let end: () => void = () => undefined;
  const {draw, redraw} = renderer;
  await settle(() => {
    end = draw(element, container);
  });
  return {
    container,
    redraw: (next) => settle(() => redraw(next, container)),
    unmount: async () => {
      await settle(() => end());
      container.remove();
    },
  };
}

/** Presses the button or link whose name holds the text. */
export async function press(container: HTMLElement, name: string | RegExp): Promise<void> {
  const found = Array.from(container.querySelectorAll<HTMLElement>('button, a, [role=option]')).find((element) =>
    new RegExp(name).test(`${element.textContent ?? ''} ${element.getAttribute('aria-label') ?? ''}`),
  );
  if (found === undefined) {
    throw new Error(`there is nothing to press called ${String(name)} in: ${container.textContent ?? ''}`);
  }
  await settle(() => found.click());
}

/** Types into a field, as React hears it. */
export async function type(field: Element | null, text: string): Promise<void> {
  if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) {
    throw new Error('there is no such field');
  }
  await settle(() => {
    const prototype = field instanceof HTMLInputElement ? HTMLInputElement.prototype : HTMLSelectElement.prototype;
    Object.getOwnPropertyDescriptor(prototype, 'value')?.set?.call(field, text);
    field.dispatchEvent(new Event(field instanceof HTMLInputElement ? 'input' : 'change', {bubbles: true}));
  });
}
