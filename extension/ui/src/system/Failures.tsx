import * as React from 'react';
import {nameOf} from '../api';
import {ViewLink} from '../parts/ViewLink';
import {asTrouble} from '../errors';
import {line, plural} from '../text';
import type {Entry} from './summary';

/** How many are named before the rest is counted. */
const mostNamed = 20;

/** The Applications whose report could not be had; nothing where there are none. */
export function Failures({entries}: {entries: Entry[]}): React.ReactElement | null {
  const failed = entries.filter((entry) => entry.error !== undefined);
  if (failed.length === 0) {
    return null;
  }
  const rest = failed.length - mostNamed;
  return (
    <div className='white-box moorpin-notice moorpin-notice--warn'>
      <h2>{plural(failed.length, 'report')} could not be had</h2>
      <ul>
        {failed.slice(0, mostNamed).map((entry) => (
          <li key={nameOf(entry.application)}>
            <ViewLink app={entry.application}>{line(nameOf(entry.application))}</ViewLink>: {line(asTrouble(entry.error).message)}
          </li>
        ))}
        {rest > 0 && <li>and {rest} more</li>}
      </ul>
    </div>
  );
}
