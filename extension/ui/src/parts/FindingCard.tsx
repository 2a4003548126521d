import * as React from 'react';
import {confidenceLabel, confidenceSentence, line, loses, plural, resourceName, show, syncSentence} from '../text';
import type {Finding, ResourceRef} from '../types';
import {SyncBadge} from './Badge';
import {FieldTable} from './FieldTable';
import {FixList} from './FixList';
import {Icon} from './Icon';
import {LossLines, lossVerb} from './Loss';

interface Props {
  finding: Finding;
  /** Whether it is open; where it is not given, the card itself keeps it, open at first. */
  open?: boolean;
  onToggle?: () => void;
  argocdVersion?: string;
  /** Further buttons, such as one that starts an ignore rule. */
  actions?: React.ReactNode;
}

let made = 0;

/** One finding: a line that says what it is, and all that is known when it is open. */
export function FindingCard({finding, open: given, onToggle, argocdVersion, actions}: Props): React.ReactElement {
  const [own, setOwn] = React.useState(true);
  const open = given ?? own;
  const [id] = React.useState(() => `moorpin-finding-${++made}`);
  return (
    <div className={`moorpin-finding${open ? ' moorpin-finding--open' : ''}`}>
      <h4 className='moorpin-finding__head'>
        <button type='button' aria-expanded={open} aria-controls={id} onClick={onToggle ?? (() => setOwn(!own))}>
          <Icon name={open ? 'fa-chevron-down' : 'fa-chevron-right'} />
          <ResourceTitle resource={finding.resource} />
          <span className='moorpin-finding__count'>{finding.fields.length > 0 && plural(finding.fields.length, 'field')}</span>
          {!finding.flagged && (
            <span className='moorpin-tag' title='Argo CD does not show this difference'>
              hidden from Argo CD
            </span>
          )}
          <SyncBadge sync={finding.sync} />
        </button>
      </h4>
      <div id={id} hidden={!open}>
        {open && <FindingBody finding={finding} argocdVersion={argocdVersion} actions={actions} />}
      </div>
    </div>
  );
}

/** An object's kind and name as Argo CD's lists have them. */
export function ResourceTitle({resource}: {resource: ResourceRef}): React.ReactElement {
  const {kind, group, namespace, name} = resource;
  return (
    <span className='moorpin-resource' title={resourceName(resource)}>
      <span className='moorpin-resource__kind'>{line(group ? `${kind}.${group}` : kind)}</span>
      <span className='moorpin-resource__name'>{line(name)}</span>
      {namespace !== undefined && namespace !== '' && <span className='moorpin-muted'>{line(namespace)}</span>}
    </span>
  );
}

/** All that is known of a finding. */
export function FindingBody({finding, argocdVersion, actions}: {finding: Finding; argocdVersion?: string; actions?: React.ReactNode}): React.ReactElement {
  return (
    <div className='moorpin-finding__body'>
      <p>
        {show(finding.summary)}{' '}
        <span className='moorpin-tag' title={confidenceSentence(finding.confidence)}>
          {confidenceLabel(finding.confidence)}
        </span>
      </p>
      {!loses(finding) && <p className='moorpin-muted'>{syncSentence(finding.sync)}</p>}
      {loses(finding) && (
        <div className='moorpin-loss'>
          <p>
            <strong>
              <Icon name='fa-exclamation-triangle' /> A sync {lossVerb(finding)} {resourceName(finding.resource)}
            </strong>
          </p>
          <LossLines finding={finding} />
        </div>
      )}
      <FieldTable fields={finding.fields} label={`Differing fields of ${resourceName(finding.resource)}`} />
      {finding.evidence.length > 0 && (
        <React.Fragment>
          <h5>Evidence</h5>
          <ul className='moorpin-evidence'>
            {finding.evidence.slice(0, 50).map((text, i) => (
              <li key={i}>{show(text)}</li>
            ))}
          </ul>
        </React.Fragment>
      )}
      <FixList finding={finding} argocdVersion={argocdVersion} />
      {actions}
    </div>
  );
}
