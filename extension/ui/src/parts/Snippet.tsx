import * as React from 'react';
import {show} from '../text';
import {Button} from './Button';
import {Icon} from './Icon';

interface Props {
  /** What is shown and copied; only what is shown has its invisible characters spelt out. */
  text: string;
  /** What it is, for screen readers: "The fix for Deployment web". */
  label: string;
}

/** Puts a text on the clipboard, also where the page is not on a secure origin. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const area = document.createElement('textarea');
    area.value = text;
    area.style.position = 'fixed';
    area.style.opacity = '0';
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand?.('copy') ?? false;
    document.body.removeChild(area);
    // Selecting took the focus, and the keyboard's place on the page with it.
    (focused as HTMLElement | null)?.focus?.();
    return done;
  }
}

/** A text ready to paste, with a button that copies it. */
export function Snippet({text, label}: Props): React.ReactElement {
  const [state, setState] = React.useState<'' | 'copied' | 'failed'>('');
  React.useEffect(() => {
    if (state === '') {
      return undefined;
    }
    const timer = setTimeout(() => setState(''), 2500);
    return () => clearTimeout(timer);
  }, [state]);
  const said = {'': 'Copy', copied: 'Copied', failed: 'Select and copy'}[state];
  return (
    <div className='moorpin-snippet'>
      {/* A block that scrolls has to be reachable with the keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role='group' aria-label={label}>
        <code>{show(text.replace(/\s+$/, ''))}</code>
      </pre>
      <Button
        className='moorpin-copy'
        aria-label={`${said}: ${label}`}
        onClick={() => {
          void copy(text).then((done) => setState(done ? 'copied' : 'failed'));
        }}>
        <Icon name={state === 'copied' ? 'fa-check' : 'fa-copy'} /> {said}
      </Button>
      <span className='moorpin-hidden' role='status'>
        {state === '' ? '' : said}
      </span>
    </div>
  );
}
