import * as React from 'react';
import {useRows} from './useRows';

interface Props {
  count: number;
  /** The height of each row in pixels; all are the same. */
  rowHeight: number;
  /** The largest height of the list in pixels. */
  height: number;
  label: string;
  /** What a row holds; it is put into an element with the role of a list item. */
  row: (index: number) => React.ReactNode;
}

/** A long list of which only what is seen is in the document. */
export function VirtualList({count, rowHeight, height, label, row}: Props): React.ReactElement {
  const {ref, onScroll, first, end} = useRows(count, rowHeight);
  const rows: React.ReactNode[] = [];
  for (let i = first; i < end; i++) {
    rows.push(
      <div key={i} role='listitem' aria-setsize={count} aria-posinset={i + 1} style={{height: rowHeight}}>
        {row(i)}
      </div>,
    );
  }
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable with the keyboard
    <div className='moorpin-virtual' style={{height: Math.min(height, count * rowHeight)}} ref={ref} onScroll={onScroll} tabIndex={0} role='list' aria-label={label}>
      <div role='presentation' style={{paddingTop: first * rowHeight, paddingBottom: Math.max(0, count - end) * rowHeight}}>
        {rows}
      </div>
    </div>
  );
}
