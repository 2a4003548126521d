import * as React from 'react';
import {Button} from '../parts/Button';

interface Props {
  done: number;
  total: number;
  stop: () => void;
}

/** How many of the reports are there, and a way to stop. */
export function Progress({done, total, stop}: Props): React.ReactElement {
  return (
    <div className='moorpin-filters'>
      <div className='moorpin-progress' role='progressbar' aria-label='Reports read' aria-valuemin={0} aria-valuemax={total} aria-valuenow={done}>
        <div style={{width: `${total === 0 ? 0 : (100 * done) / total}%`}} />
      </div>
      <span className='moorpin-muted'>
        {done} of {total} reports
      </span>
      <Button onClick={stop}>
        Stop
      </Button>
    </div>
  );
}
