// A long list of which only what is seen is in the document. It is one stop of the Tab
// key, however long it is: the arrow keys move within it, and what they reach is chosen.
import * as React from 'react';
import {useRows} from './useRows';

interface Props {
  count: number;
  /** The height of each row in pixels; all are the same. */
  rowHeight: number;
  className: string;
  /** The height of the list in pixels, where its class does not say it. */
  height?: number;
  label: string;
  /** The chosen row, or -1. */
  chosen: number;
  choose: (row: number) => void;
  /** The class of a row, and what it holds. */
  look: (row: number) => string;
  row: (row: number) => React.ReactNode;
}

const pageRows = 20;
let made = 0;

/** A long list of rows of one height, one of which may be chosen. */
export function VirtualList({count, rowHeight, className, height, label, chosen, choose, look, row}: Props): React.ReactElement {
  const {ref, onScroll, first, end, reveal} = useRows(count, rowHeight);
  const [id] = React.useState(() => `moorpin-rows-${++made}`);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const wanted = target(event.key, chosen, count);
    if (wanted !== undefined) {
      event.preventDefault();
      const to = Math.min(Math.max(0, wanted), count - 1);
      choose(to);
      reveal(to);
    }
  };
  const drawn: React.ReactNode[] = [];
  for (let i = first; i < end; i++) {
    drawn.push(
      // The list holds the focus and hears the keys; a click only chooses.
      // eslint-disable-next-line jsx-a11y/click-events-have-key-events
      <div
        key={i}
        id={`${id}-${i}`}
        className={look(i)}
        style={{height: rowHeight}}
        role='option'
        aria-selected={i === chosen}
        aria-setsize={count}
        aria-posinset={i + 1}
        tabIndex={-1}
        onClick={() => choose(i)}>
        {row(i)}
      </div>,
    );
  }
  return (
    <div
      className={className}
      style={{height}}
      ref={ref}
      onScroll={onScroll}
      role='listbox'
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={chosen >= first && chosen < end ? `${id}-${chosen}` : undefined}
      onKeyDown={onKeyDown}>
      <div role='presentation' style={{height: count * rowHeight, position: 'relative'}}>
        <div role='presentation' style={{position: 'absolute', top: first * rowHeight, left: 0, right: 0}}>
          {drawn}
        </div>
      </div>
    </div>
  );
}

/** Where a key leads from a row. */
function target(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return at + 1;
    case 'ArrowUp':
      return at - 1;
    case 'PageDown':
      return at + pageRows;
    case 'PageUp':
      return at - pageRows;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
  }
  return undefined;
}
