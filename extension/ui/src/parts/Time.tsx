import * as React from 'react';
import {exactTime, relativeTime} from '../text';

/** How long ago something was, with the exact time in the user's zone on hover, and what stands before it where there is a time. */
export function Time({at, lead = ''}: {at?: string; lead?: string}): React.ReactElement | null {
  const [now, setNow] = React.useState(Date.now);
  React.useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  const text = relativeTime(at, now);
  if (text === '') {
    return null;
  }
  return (
    <React.Fragment>
      {lead}
      <time dateTime={at} title={exactTime(at)} className='moorpin-time'>
        {text}
      </time>
    </React.Fragment>
  );
}
