import * as React from 'react';

interface Props extends React.ButtonHTMLAttributes<HTMLButtonElement> {
  /** Outlined, filled, or like a link within a text. */
  look?: 'base-o' | 'base' | 'link';
}

/** A button as Argo CD's own look. */
export function Button({look = 'base-o', className = '', ...rest}: Props): React.ReactElement {
  return <button type='button' className={`${look === 'link' ? 'moorpin-link' : `argo-button argo-button--${look}`} ${className}`} {...rest} />;
}
