// What a sync would take away: the loudest thing on the page.
import * as React from 'react';
import {fieldPath, isMasked, line, ownerText, plural, resourceName, sideText, show} from '../text';
import type {Field, Finding} from '../types';
import {Button} from './Button';
import {Icon} from './Icon';
import {Time} from './Time';

const mostShown = 5;

/** What a sync would do to what is live, as the end of a sentence that starts with "A sync". */
export function lossVerb(finding: Finding): string {
  switch (finding.mechanism) {
    case 'ttl-deleted':
      return 'runs again';
    case 'rollout-restart':
      return 'restarts';
    case 'random-render':
    case 'timestamp-render':
    case 'checksum-churn':
      return 'replaces the value in use of';
    default:
      return finding.sync === 'destructive' ? 'deletes or blanks data of' : 'overwrites a live change of';
  }
}

/** One finding's loss. */
export function LossLines({finding}: {finding: Finding}): React.ReactElement {
  const named = finding.fields.filter((field) => 'live' in field);
  if (named.length === 0) {
    return (
      <ul className='moorpin-loss__list'>
        {(finding.loss ?? []).slice(0, mostShown).map((text, i) => (
          <li key={i}>{show(text)}</li>
        ))}
      </ul>
    );
  }
  return (
    <ul className='moorpin-loss__list'>
      {named.slice(0, mostShown).map((field, i) => (
        <li key={i}>
          <LossLine field={field} />
        </li>
      ))}
      {named.length > mostShown && <li>and {plural(named.length - mostShown, 'more field')}</li>}
    </ul>
  );
}

function LossLine({field}: {field: Field}): React.ReactElement {
  const masked = isMasked(field.live) || isMasked(field.target);
  return (
    <React.Fragment>
      <span className='moorpin-loss__path'>{fieldPath(field.pointer)}</span>: {masked ? 'a hidden value' : <code>{shortened(sideText(field, 'live'))}</code>}
      {field.owner !== undefined && (
        <React.Fragment>
          , written by <strong>{ownerText(field.owner)}</strong>
          <Time at={field.owner.time} lead=' ' />
        </React.Fragment>
      )}
      , becomes {masked ? 'another one' : <code>{shortened(sideText(field, 'target'))}</code>}
    </React.Fragment>
  );
}

function shortened(text: string): string {
  const one = line(text);
  return one.length > 80 ? `${one.slice(0, 80)}…` : one;
}

/** All that a sync would take away. */
export function LossBox({findings, onOpen}: {findings: Finding[]; onOpen: (finding: Finding) => void}): React.ReactElement | null {
  if (findings.length === 0) {
    return null;
  }
  const destroys = findings.some(({sync}) => sync === 'destructive');
  return (
    <section className='moorpin-loss' aria-label='What a sync would take away'>
      <h3>
        <Icon name='fa-exclamation-triangle' /> {destroys ? 'Do not sync yet: a sync destroys data' : 'A sync overwrites live changes'}
      </h3>
      {findings.slice(0, mostShown).map((finding, i) => (
        <div key={i} className='moorpin-loss__item'>
          <p>
            A sync {lossVerb(finding)}{' '}
            <Button look='link' onClick={() => onOpen(finding)}>
              {resourceName(finding.resource)}
            </Button>
          </p>
          <LossLines finding={finding} />
        </div>
      ))}
      {findings.length > mostShown && <p>and {plural(findings.length - mostShown, 'more resource')} below.</p>}
    </section>
  );
}
