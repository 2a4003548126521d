import * as React from 'react';

/** One of the page's own Font Awesome icons, such as "fa-copy"; never the only word. */
export function Icon({name, spin}: {name: string; spin?: boolean}): React.ReactElement {
  return <i className={`fa ${name} moorpin-icon${spin === true ? ' fa-spin' : ''}`} aria-hidden='true' />;
}
