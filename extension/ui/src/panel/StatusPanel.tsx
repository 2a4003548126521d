import * as React from 'react';
import type {Loaded} from '../api';
import {findingsOf, verdictOf} from '../app/arrange';
import {Icon} from '../parts/Icon';
import {plural, severity, syncLabel, syncSentence, syncTone, toneIcons} from '../text';
import type {Tone} from '../text';
import type {Application, StatusPanelProps} from '../types';
import {useReport} from './shared';
import type {Shared} from './shared';

/** What the chip says: a number, what it means, and how loud. */
interface Said {
  icon: string;
  value: string;
  detail: string;
  tone: Tone;
}

/**
 * The chip in the status panel. It asks for a report only where Argo CD flags
 * something, because every visit of every Application shows it.
 */
export function StatusPanel({application, openFlyout}: StatusPanelProps): React.ReactElement {
  const flagged = flaggedBy(application);
  const report = useReport(application, {ask: flagged > 0 || application.status?.sync?.status === 'Unknown'});
  const said = sayOf(application, flagged, report);
  return (
    <div className='application-status-panel__item moorpin moorpin-chip'>
      <div className='moorpin-chip__title'>
        DRIFT
        <button type='button' className='application-status-panel__more-button' aria-label='Show why' title='Show why' onClick={() => openFlyout()}>
          <Icon name='fa-ellipsis-h' />
        </button>
      </div>
      <div className='application-status-panel__item-value'>
        <button type='button' className={`moorpin-chip__value moorpin-chip__value--${said.tone}`} title={said.detail} onClick={() => openFlyout()}>
          <Icon name={said.icon} spin={report.loading && report.loaded === undefined} /> {said.value}
        </button>
      </div>
      <div className={`application-status-panel__item-name moorpin-chip__detail ${said.tone === 'bad' ? 'moorpin-chip__detail--loud' : ''}`} role='status'>
        {said.detail}
      </div>
    </div>
  );
}

/** How many resources Argo CD calls OutOfSync. */
export function flaggedBy(app: Application): number {
  return (app.status?.resources ?? []).filter((resource) => resource.status === 'OutOfSync').length || (app.status?.sync?.status === 'OutOfSync' ? 1 : 0);
}

function sayOf(app: Application, flagged: number, {loaded, error, loading}: Shared): Said {
  if (loaded !== undefined) {
    return sayReport(loaded);
  }
  const value = `${flagged} out of sync`;
  if (error !== undefined) {
    return {icon: 'fa-question-circle', value: flagged > 0 ? value : 'Unknown', detail: `Why is not known: ${error.message}`, tone: 'quiet'};
  }
  if (loading) {
    return {icon: 'fa-circle-notch', value: flagged > 0 ? value : 'Unknown', detail: 'Finding out why…', tone: 'quiet'};
  }
  return app.status?.sync?.status === 'Synced'
    ? {icon: 'fa-check-circle', value: 'None flagged', detail: 'Argo CD flags no difference.', tone: 'good'}
    : {icon: 'fa-question-circle', value: 'Unknown', detail: 'Nothing was compared yet.', tone: 'quiet'};
}

function sayReport(loaded: Loaded): Said {
  const {report} = loaded.answer;
  const findings = findingsOf(report);
  if (findings.length === 0) {
    return loaded.partial
      ? {icon: 'fa-question-circle', value: 'No drift seen', detail: verdictOf(loaded), tone: 'quiet'}
      : {icon: 'fa-check-circle', value: 'No drift', detail: loaded.all ? 'Git and the cluster agree.' : 'Argo CD flags no difference.', tone: 'good'};
  }
  const tone = syncTone(report.sync);
  const worst = findings.filter((finding) => severity(finding.sync) === severity(report.sync)).length;
  const detail = tone === 'bad' ? `${syncLabel(report.sync)}: ${plural(worst, 'finding')}.` : syncSentence(report.sync);
  return {icon: toneIcons[tone], value: plural(findings.length, 'finding'), detail, tone};
}
