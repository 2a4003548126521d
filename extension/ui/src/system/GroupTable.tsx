import * as React from 'react';
import {nameOf} from '../api';
import {SyncBadge} from '../parts/Badge';
import {Button} from '../parts/Button';
import {Icon} from '../parts/Icon';
import {ViewLink} from '../parts/ViewLink';
import {line, mechanismLabel, plural, show} from '../text';
import type {Group} from './summary';

/** How many Applications are listed at first, and with each further press. */
const page = 50;

/** The mechanisms at work, the most urgent first; each opens to its Applications. */
export function GroupTable({groups}: {groups: Group[]}): React.ReactElement {
  const [open, setOpen] = React.useState<string | undefined>(undefined);
  return (
    <div className='argo-table-list'>
      <div className='argo-table-list__head' aria-hidden='true'>
        <div className='row'>
          <div className='columns small-5'>WHY</div>
          <div className='columns small-2'>APPLICATIONS</div>
          <div className='columns small-2'>FINDINGS</div>
          <div className='columns small-3'>A SYNC</div>
        </div>
      </div>
      <ul className='moorpin-plain' aria-label='Why Applications drift'>
        {groups.map((group, i) => (
          <li key={group.mechanism}>
            <Row group={group} id={`moorpin-group-${i}`} open={open === group.mechanism} toggle={() => setOpen(open === group.mechanism ? undefined : group.mechanism)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface RowProps {
  group: Group;
  id: string;
  open: boolean;
  toggle: () => void;
}

function Row({group, id, open, toggle}: RowProps): React.ReactElement {
  return (
    <div className='argo-table-list__row moorpin-why'>
      <button type='button' className='row moorpin-why__head' aria-expanded={open} aria-controls={id} onClick={toggle}>
        <span className='columns small-5'>
          <Icon name={open ? 'fa-angle-down' : 'fa-angle-right'} /> <strong>{mechanismLabel(group.mechanism)}</strong>
          <span className='moorpin-muted'>{show(group.summary)}</span>
        </span>
        <span className='columns small-2'>
          {group.affected.length}
          <span className='moorpin-hidden'> {group.affected.length === 1 ? 'Application' : 'Applications'}</span>
        </span>
        <span className='columns small-2'>
          {group.findings}
          <span className='moorpin-hidden'> {group.findings === 1 ? 'finding' : 'findings'}</span>
          {group.fields > 0 && <span className='moorpin-muted'> ({plural(group.fields, 'field')})</span>}
        </span>
        <span className='columns small-3'>
          <SyncBadge sync={group.sync} />
        </span>
      </button>
      <div id={id} hidden={!open}>
        {open && <Applications group={group} />}
      </div>
    </div>
  );
}

function Applications({group}: {group: Group}): React.ReactElement {
  const [most, setMost] = React.useState(page);
  return (
    <React.Fragment>
      <ul className='moorpin-plain' aria-label={`Applications: ${mechanismLabel(group.mechanism)}`}>
        {group.affected.slice(0, most).map(({entry, count}) => (
          <li key={nameOf(entry.application)} className='row'>
            <span className='columns small-5'>
              <ViewLink app={entry.application} state={{mechanism: group.mechanism}}>
                {line(nameOf(entry.application))}
              </ViewLink>
            </span>
            <span className='columns small-2 moorpin-muted'>{line(entry.application.spec?.project || 'default')}</span>
            <span className='columns small-2'>{plural(count.findings, 'finding')}</span>
            <span className='columns small-3'>
              <SyncBadge sync={count.sync} />
            </span>
          </li>
        ))}
      </ul>
      {group.affected.length > most && (
        <Button onClick={() => setMost(most + page)}>
          Show {Math.min(page, group.affected.length - most)} more of {group.affected.length}
        </Button>
      )}
    </React.Fragment>
  );
}
