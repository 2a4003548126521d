// Windowing of rows of one height: only those in sight are in the page, however many
// there are.
import * as React from 'react';

/** The rows in sight, and what the scrolling element needs. */
export interface Rows {
  ref: React.RefObject<HTMLDivElement>;
  onScroll: () => void;
  /** The first row to draw, and the one after the last. */
  first: number;
  end: number;
  /** Scrolls until the row is in sight. */
  reveal: (row: number) => void;
}

/** How many rows are drawn above and below those in sight. */
const spare = 12;
/** What is taken for the height where the page has not laid out yet. */
const usualHeight = 600;

export function useRows(count: number, rowHeight: number): Rows {
  const ref = React.useRef<HTMLDivElement>(null);
  const [range, setRange] = React.useState({top: 0, height: usualHeight});
  const measure = React.useCallback(() => {
    const element = ref.current;
    if (element !== null) {
      const height = element.clientHeight > 0 ? element.clientHeight : usualHeight;
      setRange((old) => (old.top === element.scrollTop && old.height === height ? old : {top: element.scrollTop, height}));
    }
  }, []);
  React.useEffect(() => {
    measure();
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, [measure, count]);
  const reveal = (row: number): void => {
    const element = ref.current;
    if (element === null) {
      return;
    }
    const height = element.clientHeight > 0 ? element.clientHeight : usualHeight;
    if (row * rowHeight < element.scrollTop) {
      element.scrollTop = row * rowHeight;
    } else if ((row + 1) * rowHeight > element.scrollTop + height) {
      element.scrollTop = (row + 1) * rowHeight - height;
    }
    measure();
  };
  const first = Math.min(Math.max(0, Math.floor(range.top / rowHeight) - spare), Math.max(0, count - 1));
  const end = Math.min(count, Math.ceil((range.top + range.height) / rowHeight) + spare);
  return {ref, onScroll: measure, first, end, reveal};
}
