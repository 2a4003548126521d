import * as React from 'react';
import {syncLabel, syncSentence, syncTone} from '../text';
import type {Sync} from '../types';
import {Icon} from './Icon';

const icons = {bad: 'fa-exclamation-triangle', warn: 'fa-exclamation-circle', good: 'fa-check-circle', quiet: 'fa-minus-circle'};

/** What a sync would do, in two words, with the sentence on hover. */
export function SyncBadge({sync}: {sync: Sync}): React.ReactElement {
  const tone = syncTone(sync);
  return (
    <span className={`moorpin-badge moorpin-badge--${tone}`} title={syncSentence(sync)}>
      <Icon name={icons[tone]} /> {syncLabel(sync)}
    </span>
  );
}
