import * as React from 'react';
import type {Loaded} from '../api';
import {plural, show} from '../text';
import {Icon} from './Icon';

/** What the report rests on less than it could: what could not be read, or was not heeded. */
export function Notes({loaded}: {loaded: Loaded}): React.ReactElement | null {
  const {answer, missing} = loaded;
  const notes = [...(answer.report.unheeded ?? []), ...missing, ...(answer.warnings ?? [])];
  const unique = [...new Set(notes)];
  if (unique.length === 0) {
    return null;
  }
  return (
    <details className='moorpin-notes'>
      <summary>
        <Icon name='fa-info-circle' /> {plural(unique.length, 'thing')} could not be read or heeded
      </summary>
      <ul>
        {unique.slice(0, 100).map((text) => (
          <li key={text}>{show(text)}</li>
        ))}
      </ul>
    </details>
  );
}
