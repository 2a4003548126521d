import * as React from 'react';
import {nameOf} from '../api';
import {Button} from '../parts/Button';
import {Help} from '../parts/Help';
import {Icon} from '../parts/Icon';
import {Loading} from '../parts/Loading';
import {Time} from '../parts/Time';
import {line, mechanismLabel, plural} from '../text';
import {Failures} from './Failures';
import {GroupTable} from './GroupTable';
import {Progress} from './Progress';
import {drifting, groupsOf} from './summary';
import type {Entry} from './summary';
import {commonError, isOpen, unasked, useFleet} from './useFleet';

/** The system page "Drift": all Applications that the user sees, by what makes them drift. */
export function SystemPage(): React.ReactElement {
  const fleet = useFleet();
  const [search, setSearch] = React.useState('');
  const [project, setProject] = React.useState('');
  const projects = React.useMemo(() => Array.from(new Set(fleet.entries.map(projectOf))).sort(), [fleet.entries]);
  const shown = React.useMemo(
    () => fleet.entries.filter((entry) => (project === '' || projectOf(entry) === project) && matches(entry, search)),
    [fleet.entries, project, search],
  );
  if (fleet.error !== undefined) {
    return (
      <div className='moorpin moorpin-page'>
        <Help error={fleet.error} retry={fleet.again} />
      </div>
    );
  }
  if (fleet.listing) {
    return (
      <div className='moorpin moorpin-page'>
        <Loading step='Reading the list of Applications' />
      </div>
    );
  }
  return (
    <div className='moorpin moorpin-page'>
      <Headline entries={shown} />
      <div className='moorpin-tools'>
        <label className='moorpin-search'>
          <span className='moorpin-hidden'>Search Applications and reasons</span>
          <input className='argo-field' type='search' placeholder='Search Applications and reasons' value={search} onChange={(event) => setSearch(event.target.value)} />
        </label>
        <label>
          <span className='moorpin-hidden'>Project</span>
          <select className='argo-field' value={project} onChange={(event) => setProject(event.target.value)}>
            <option value=''>All projects</option>
            {projects.map((name) => (
              <option key={name} value={name}>
                {line(name)}
              </option>
            ))}
          </select>
        </label>
        <Button onClick={fleet.again}>
          <Icon name='fa-sync-alt' /> Refresh
        </Button>
        <Oldest entries={shown} />
      </div>
      <Reports fleet={fleet} />
      <Body entries={shown} retry={fleet.read} />
    </div>
  );
}

/** How old the oldest of the reports is. */
function Oldest({entries}: {entries: Entry[]}): React.ReactElement | null {
  const oldest = entries.reduce((least, {at}) => Math.min(least, at ?? Infinity), Infinity);
  return oldest === Infinity ? null : (
    <span className='moorpin-muted'>
      Oldest report: <Time at={new Date(oldest).toISOString()} />
    </span>
  );
}

function projectOf(entry: Entry): string {
  return entry.application.spec?.project || 'default';
}

/** Whether the name, the project or a reason holds the text. */
function matches(entry: Entry, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  const texts = [nameOf(entry.application), projectOf(entry), ...(entry.counts ?? []).flatMap(({mechanism}) => [mechanism, mechanismLabel(mechanism)])];
  return wanted === '' || texts.some((text) => text.toLowerCase().includes(wanted));
}

/** The answer at one glance. */
function Headline({entries}: {entries: Entry[]}): React.ReactElement {
  const out = entries.filter((entry) => entry.application.status?.sync?.status === 'OutOfSync').length;
  const unknown = entries.filter((entry) => (entry.application.status?.sync?.status ?? 'Unknown') === 'Unknown').length;
  const parts = [out > 0 ? `${out} OutOfSync` : '', unknown > 0 ? `${unknown} Unknown` : ''].filter((part) => part !== '');
  return (
    <div className={`white-box moorpin-verdict moorpin-verdict--${out + unknown > 0 ? 'warn' : 'good'}`}>
      <h2>
        <Icon name={out + unknown > 0 ? 'fa-code-branch' : 'fa-check-circle'} />{' '}
        {entries.length === 0
          ? 'There are no Applications to look at.'
          : parts.length === 0
            ? `${entries.length === 1 ? 'The one Application is' : `All ${entries.length} Applications are`} Synced.`
            : `${parts.join(' and ')} of ${plural(entries.length, 'Application')}.`}
      </h2>
    </div>
  );
}

/** How far the reports are, and the way to have them. */
function Reports({fleet}: {fleet: ReturnType<typeof useFleet>}): React.ReactElement | null {
  const open = fleet.entries.filter(isOpen).length;
  if (fleet.running) {
    return <Progress done={fleet.done} total={fleet.total} stop={fleet.stop} />;
  }
  if (open > 0 && commonError(fleet.entries) === undefined) {
    return (
      <div className='moorpin-filters'>
        <Button look='base' onClick={fleet.read}>
          Read {plural(open, 'report')}
        </Button>
        <span className='moorpin-muted'>{open > unasked ? 'A few at a time; you can stop, and go on later.' : 'These have no report yet.'}</span>
      </div>
    );
  }
  return null;
}

function Body({entries, retry}: {entries: Entry[]; retry: () => void}): React.ReactElement {
  const common = commonError(entries);
  const groups = React.useMemo(() => groupsOf(entries), [entries]);
  const read = entries.filter((entry) => entry.counts !== undefined).length;
  return (
    <React.Fragment>
      {common !== undefined && <Help error={common.error} retry={retry} />}
      {groups.length > 0 && <GroupTable groups={groups} />}
      {groups.length === 0 && read > 0 && (
        <div className='white-box moorpin-notice moorpin-notice--good'>
          <p>
            <Icon name='fa-check-circle' /> The {plural(read, 'report')} read so far {read === 1 ? 'has' : 'have'} nothing to explain.
          </p>
        </div>
      )}
      {groups.length === 0 && entries.length > 0 && !entries.some((entry) => drifting(entry.application)) && (
        <p className='moorpin-muted'>Changes that Argo CD does not compare are shown in the Drift view of each Application.</p>
      )}
      {common === undefined && <Failures entries={entries} />}
    </React.Fragment>
  );
}
