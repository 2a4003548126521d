import * as React from 'react';
import {SyncBadge} from '../parts/Badge';
import {Button} from '../parts/Button';
import {FindingCard} from '../parts/FindingCard';
import {Icon} from '../parts/Icon';
import {mechanismLabel, plural, show} from '../text';
import type {Finding} from '../types';
import {findingKey} from '../state';
import type {Group, Section} from './arrange';

interface Shared {
  open: string;
  onOpen: (key: string) => void;
  onIgnore: (finding: Finding) => void;
  argocdVersion?: string;
}

/** How many findings of a group are shown at once. */
const page = 25;

/** The findings by urgency and mechanism. */
export function Groups({sections, ...shared}: Shared & {sections: Section[]}): React.ReactElement {
  return (
    <React.Fragment>
      {sections.map((section) => (
        <section key={section.id} className={`moorpin-section moorpin-section--${section.id}`} aria-labelledby={`moorpin-section-${section.id}`}>
          <h3 id={`moorpin-section-${section.id}`}>
            {section.title} <span className='moorpin-muted'>{section.text}</span>
          </h3>
          {section.groups.map((group) => (
            <GroupBox key={group.mechanism} group={group} {...shared} />
          ))}
        </section>
      ))}
    </React.Fragment>
  );
}

function GroupBox({group, open, onOpen, onIgnore, argocdVersion}: Shared & {group: Group}): React.ReactElement {
  const [most, setMost] = React.useState(page);
  const {findings} = group;
  const at = findings.findIndex((finding) => findingKey(finding) === open);
  const shown = findings.slice(0, Math.max(most, at + 1));
  const rest = findings.length - shown.length;
  return (
    <div className='white-box moorpin-group'>
      <div className='moorpin-group__head'>
        <h4>{mechanismLabel(group.mechanism)}</h4>
        <span className='moorpin-muted'>
          {plural(group.resources, 'resource')}
          {group.fields > 0 && `, ${plural(group.fields, 'field')}`}
        </span>
        <SyncBadge sync={group.worst.sync} />
        <p>{show(group.worst.summary)}</p>
      </div>
      {shown.map((finding, i) => {
        const key = findingKey(finding);
        const isOpen = key === open;
        return (
          <FindingCard
            key={`${key} ${i}`}
            finding={finding}
            open={isOpen}
            onToggle={() => onOpen(isOpen ? '' : key)}
            argocdVersion={argocdVersion}
            actions={canIgnore(finding) && <IgnoreButton onClick={() => onIgnore(finding)} />}
          />
        );
      })}
      {rest > 0 && (
        <Button look='link' className='moorpin-more' onClick={() => setMost(most + 4 * page)}>
          Show {Math.min(rest, 4 * page)} more of {findings.length}
        </Button>
      )}
    </div>
  );
}

/** Only what Argo CD compares field by field can be ignored. */
function canIgnore(finding: Finding): boolean {
  return finding.flagged && finding.fields.length > 0 && finding.resource.kind !== 'Application';
}

function IgnoreButton({onClick}: {onClick: () => void}): React.ReactElement {
  return (
    <p>
      <Button onClick={onClick}>
        <Icon name='fa-eye-slash' /> Try an ignore rule for these fields
      </Button>
    </p>
  );
}
