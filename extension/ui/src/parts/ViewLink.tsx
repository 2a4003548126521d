import * as React from 'react';
import {onLink, viewLink} from '../state';
import type {ViewState} from '../state';
import type {Application} from '../types';

interface Props {
  app: Application;
  state?: Partial<ViewState>;
  className?: string;
  children: React.ReactNode;
}

/** A link to the Drift view of an Application, which a plain click follows within the page. */
export function ViewLink({app, state, className, children}: Props): React.ReactElement {
  const link = viewLink(app, state);
  return (
    <a className={className} href={link} onClick={(event) => onLink(event, link)}>
      {children}
    </a>
  );
}
