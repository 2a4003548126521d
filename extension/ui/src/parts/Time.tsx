import * as React from 'react';
import {exactTime, relativeTime} from '../text';

/** How long ago something was, with the exact time in the user's zone on hover. */
export function Time({at}: {at?: string}): React.ReactElement | null {
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
    <time dateTime={at} title={exactTime(at)} className='moorpin-time'>
      {text}
    </time>
  );
}
