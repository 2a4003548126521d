import * as React from 'react';
import {Icon} from './Icon';

/** That something is under way, in place of what will come, at about its height. */
export function Loading({step, rows = 4}: {step: string; rows?: number}): React.ReactElement {
  return (
    <div className='white-box moorpin-loading' role='status' aria-live='polite'>
      <p>
        <Icon name='fa-circle-notch' spin /> {step}…
      </p>
      {Array.from({length: rows}, (_, i) => (
        <div key={i} className='moorpin-loading__row' aria-hidden='true' />
      ))}
    </div>
  );
}
