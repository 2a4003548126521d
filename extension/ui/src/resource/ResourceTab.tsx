import * as React from 'react';
import {nameOf} from '../api';
import {useReport} from '../panel/shared';
import {Button} from '../parts/Button';
import {FindingCard} from '../parts/FindingCard';
import {Help} from '../parts/Help';
import {Icon} from '../parts/Icon';
import {Loading} from '../parts/Loading';
import {ViewLink} from '../parts/ViewLink';
import {mechanismLabel, resourceKey, resourceName} from '../text';
import type {Application, Finding, KubeObject, ResourceRef, ResourceStatus, ResourceTabProps} from '../types';
import {Blame} from './Blame';
import {isMap} from './owners';

/** The tab "Drift" of one resource: why it differs, and who wrote each of its fields. */
export function ResourceTab({application, resource}: ResourceTabProps): React.ReactElement {
  const ref = refOf(resource);
  if (ref === undefined) {
    return <p className='moorpin moorpin-muted'>There is no live object to look at.</p>;
  }
  return <Tab key={resourceKey(ref)} application={application} resource={resource} about={ref} />;
}

interface TabProps {
  application: Application;
  resource: KubeObject;
  about: ResourceRef;
}

function Tab({application, resource, about}: TabProps): React.ReactElement {
  const place = placeOf(application, about);
  const [deep, setDeep] = React.useState(false);
  const ask = place === 'flagged' || place === 'application' || deep;
  const {loaded, error, loading, step, again} = useReport(application, {ask, all: deep && place !== 'application'});
  const findings = React.useMemo(() => (loaded?.answer.report.findings ?? []).filter((finding) => isAbout(finding, about)), [loaded, about.group, about.kind, about.namespace, about.name]);
  return (
    <div className='moorpin moorpin-tab'>
      <h2 className='moorpin-hidden'>Drift of {resourceName(about)}</h2>
      <section aria-label='Why it differs from Git'>
        <h3>Why it differs from Git</h3>
        {!ask && <Quiet place={place} seek={() => setDeep(true)} />}
        {ask && error !== undefined && <Help error={error} retry={again} busy={loading} />}
        {ask && loading && loaded === undefined && <Loading step={step ?? 'Finding out why'} rows={2} />}
        {ask && loaded !== undefined && <Findings findings={findings} flagged={place === 'flagged'} argocdVersion={loaded.argocdVersion} />}
        {ask && loaded !== undefined && (
          <p>
            <ViewLink app={application}>All findings of {nameOf(application)}</ViewLink>
          </p>
        )}
      </section>
      <section aria-label='Who wrote which field'>
        <h3>Who wrote which field</h3>
        <Blame resource={resource} kind={about.kind} findings={findings} />
      </section>
    </div>
  );
}

/** What Argo CD says of the resource itself. */
type Place = 'flagged' | 'synced' | 'application' | 'unmanaged';

function Quiet({place, seek}: {place: Place; seek: () => void}): React.ReactElement {
  return (
    <div className='white-box moorpin-notice moorpin-notice--good'>
      <p>
        <Icon name='fa-check-circle' />{' '}
        {place === 'synced'
          ? 'Argo CD flags no difference here.'
          : 'Argo CD does not compare this resource with Git: it belongs to one that it manages.'}
      </p>
      {place === 'synced' && (
        <Button onClick={seek}>
          Look for changes that Argo CD does not compare
        </Button>
      )}
    </div>
  );
}

interface FindingsProps {
  findings: Finding[];
  /** Argo CD calls the resource OutOfSync. */
  flagged: boolean;
  argocdVersion: string | undefined;
}

/** The findings about the resource, all open: this is what the tab is for. */
function Findings({findings, flagged, argocdVersion}: FindingsProps): React.ReactElement {
  const [closed, setClosed] = React.useState<Set<number>>(new Set());
  if (findings.length === 0) {
    return (
      <div className={`white-box moorpin-notice${flagged ? '' : ' moorpin-notice--good'}`}>
        <p>
          <Icon name={flagged ? 'fa-question-circle' : 'fa-check-circle'} />{' '}
          {flagged ? 'Argo CD called this resource OutOfSync, and the report no longer finds a difference here.' : 'Nothing to explain: the report has no finding here.'}
        </p>
      </div>
    );
  }
  return (
    <React.Fragment>
      {findings.map((finding, i) => (
        <div key={i} className='white-box moorpin-group'>
          <div className='moorpin-group__head'>
            <h4>{mechanismLabel(finding.mechanism)}</h4>
          </div>
          <FindingCard
            finding={finding}
            open={!closed.has(i)}
            onToggle={() => setClosed(toggled(closed, i))}
            argocdVersion={argocdVersion}
          />
        </div>
      ))}
    </React.Fragment>
  );
}

function toggled(set: Set<number>, entry: number): Set<number> {
  const changed = new Set(set);
  if (!changed.delete(entry)) {
    changed.add(entry);
  }
  return changed;
}

/** Names the live object; nothing where it is no object. */
function refOf(resource: KubeObject | undefined): ResourceRef | undefined {
  const {apiVersion, kind, metadata} = resource ?? {};
  if (typeof kind !== 'string' || !isMap(metadata) || typeof metadata.name !== 'string') {
    return undefined;
  }
  const group = typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return {group, kind, namespace: typeof metadata.namespace === 'string' ? metadata.namespace : '', name: metadata.name};
}

function placeOf(app: Application, about: ResourceRef): Place {
  if (about.group === 'argoproj.io' && about.kind === 'Application' && about.name === app.metadata.name && about.namespace === (app.metadata.namespace ?? about.namespace)) {
    return 'application';
  }
  const found = (app.status?.resources ?? []).find((status) => isSame(status, about));
  if (found === undefined) {
    return 'unmanaged';
  }
  return found.status === 'Synced' ? 'synced' : 'flagged';
}

function isSame(status: ResourceStatus, about: ResourceRef): boolean {
  return resourceKey({...status, group: status.group ?? ''}) === resourceKey(about);
}

/** Whether a finding is about the object, whatever the version. */
function isAbout(finding: Finding, about: ResourceRef): boolean {
  return resourceKey(finding.resource) === resourceKey(about);
}
