import * as React from 'react';
import {nameOf, type Loaded} from '../api';
import {verdictOf} from '../app/arrange';
import {SyncBadge} from '../parts/Badge';
import {Button} from '../parts/Button';
import {Help} from '../parts/Help';
import {Icon} from '../parts/Icon';
import {Loading} from '../parts/Loading';
import {LossBox} from '../parts/Loss';
import {Time} from '../parts/Time';
import {ViewLink} from '../parts/ViewLink';
import {findingKey, navigate, viewLink} from '../state';
import {loses, mechanismLabel, plural, severity, syncTone, show} from '../text';
import type {Application, AppViewProps, Finding} from '../types';
import {countsOf} from '../system/summary';
import type {Count} from '../system/summary';
import {useReport} from './shared';

/** What the chip opens: why, in short, and the way to the whole view. */
export function Flyout({application}: AppViewProps): React.ReactElement {
  const {loaded, error, loading, step, again} = useReport(application, {ask: true});
  return (
    <div className='moorpin moorpin-flyout'>
      <h1>Drift of {nameOf(application)}</h1>
      {error !== undefined && <Help error={error} retry={again} busy={loading} />}
      {loaded === undefined && error === undefined && <Loading step={step ?? 'Finding out why'} />}
      {loaded !== undefined && <Summary application={application} loaded={loaded} />}
      <div className='moorpin-filters'>
        <ViewLink app={application} className='argo-button argo-button--base'>
          Open the Drift view
        </ViewLink>
        <Button aria-disabled={loading} onClick={again}>
          <Icon name='fa-sync-alt' spin={loading} /> Refresh
        </Button>
        {loaded?.answer.comparedAt !== undefined && (
          <span className='moorpin-muted'>
            Argo CD compared <Time at={loaded.answer.comparedAt} />
          </span>
        )}
      </div>
    </div>
  );
}

function Summary({application, loaded}: {application: Application; loaded: Loaded}): React.ReactElement {
  const {report} = loaded.answer;
  const counts = countsOf(report);
  return (
    <React.Fragment>
      <div className={`white-box moorpin-verdict moorpin-verdict--${syncTone(report.sync)}`}>
        <h2>{show(verdictOf(loaded))}</h2>
      </div>
      <LossBox findings={report.findings.filter(loses)} onOpen={(finding) => navigate(viewLink(application, {open: findingKey(finding)}))} />
      {counts.length > 0 && (
        <ul className='moorpin-plain' aria-label='Why, by mechanism'>
          {counts.map((count) => (
            <Entry key={count.mechanism} application={application} count={count} findings={report.findings} />
          ))}
        </ul>
      )}
    </React.Fragment>
  );
}

interface EntryProps {
  application: Application;
  count: Count;
  findings: Finding[];
}

function Entry({application, count, findings}: EntryProps): React.ReactElement {
  const names = findings.filter((finding) => finding.mechanism === count.mechanism).sort((a, b) => severity(b.sync) - severity(a.sync));
  return (
    <li>
      <ViewLink app={application} state={{mechanism: count.mechanism}} className='white-box moorpin-flyout__group'>
        <strong>{mechanismLabel(count.mechanism)}</strong>
        <SyncBadge sync={count.sync} />
        <span className='moorpin-muted'>
          {plural(count.findings, 'finding')}
          {count.fields > 0 && ` with ${plural(count.fields, 'field')}`}: {names.slice(0, 3).map((finding) => show(`${finding.resource.kind} ${finding.resource.name}`)).join(', ')}
          {names.length > 3 && ` and ${names.length - 3} more`}
        </span>
      </ViewLink>
    </li>
  );
}
