import * as React from 'react';
import type {Loaded} from '../api';
import {notesOf} from '../app/arrange';
import {plural, show} from '../text';
import {Icon} from './Icon';

/** What the report rests on less than it could: what could not be read, or was not heeded. */
export function Notes({loaded}: {loaded: Loaded}): React.ReactElement | null {
  const unique = notesOf(loaded.answer, loaded.missing);
  if (unique.length === 0) {
    return null;
  }
  return (
    <details className='moorpin-notes' open={loaded.partial}>
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
