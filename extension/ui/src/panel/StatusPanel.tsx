import * as React from 'react';
import {Icon} from '../parts/Icon';
import {plural, severity, syncLabel, syncSentence, syncTone} from '../text';
import type {Tone} from '../text';
import type {Application, Report, StatusPanelProps} from '../types';
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
    return sayReport(loaded.answer.report);
  }
  const value = `${flagged} out of sync`;
  if (error !== undefined) {
    return {icon: 'fa-question-circle', value: flagged > 0 ? value : 'Unknown', detail: `Why is not known: ${error.message}`, tone: 'quiet'};
  }
  if (loading) {
    return {icon: 'fa-circle-notch', value: flagged > 0 ? value : 'Unknown', detail: 'Finding out why…', tone: 'quiet'};
  }
  return {icon: 'fa-check-circle', value: 'None flagged', detail: app.status?.sync?.status === 'Synced' ? 'Argo CD flags no difference.' : 'Nothing was compared yet.', tone: 'good'};
}

function sayReport(report: Report): Said {
  const findings = report.findings.filter((finding) => finding.mechanism !== 'none');
  if (findings.length === 0) {
    return {icon: 'fa-check-circle', value: 'No drift', detail: 'Git and the cluster agree.', tone: 'good'};
  }
  const tone = syncTone(report.sync);
  const worst = findings.filter((finding) => severity(finding.sync) === severity(report.sync)).length;
  const detail = tone === 'bad' ? `${syncLabel(report.sync)}: ${plural(worst, 'finding')}.` : syncSentence(report.sync);
  return {icon: {bad: 'fa-exclamation-triangle', warn: 'fa-exclamation-circle', good: 'fa-arrow-alt-circle-up', quiet: 'fa-info-circle'}[tone], value: plural(findings.length, 'finding'), detail, tone};
}
