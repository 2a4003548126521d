import * as React from 'react';
import {SyncBadge} from '../parts/Badge';
import {Icon} from '../parts/Icon';
import {fieldPath, loses, mechanismLabel, plural, resourceName, show} from '../text';
import type {Preview, PreviewField} from '../types';

const mostShown = 50;

/** What an ignore rule would do. */
export function Outcome({preview}: {preview: Preview}): React.ReactElement {
  const {hides, reveals = [], remaining, synced, covers, coversTotal} = preview;
  const later = covers.filter((place) => !hides.some((hidden) => hidden.pointer === place.pointer && resourceName(hidden.resource) === resourceName(place.resource)));
  return (
    <div className='moorpin-outcome'>
      <p className={`moorpin-notice moorpin-notice--${synced ? 'good' : 'warn'}`}>
        <Icon name={synced ? 'fa-check-circle' : 'fa-exclamation-circle'} />{' '}
        <strong>{synced ? 'The Application would be Synced.' : `The Application would stay OutOfSync${remaining > 0 ? `: ${plural(remaining, 'field')} would remain` : ''}.`}</strong>
      </p>
      {hides.length === 0 ? <p>{coversTotal > 0 ? 'The rule hides nothing that differs now.' : 'The rule matches nothing: it would be dead.'}</p> : <Fields title={`Hides ${plural(hides.length, 'difference')} now`} fields={hides} />}
      {hides.some((field) => field.sync !== undefined && loses({sync: field.sync})) && (
        <p className='moorpin-notice moorpin-notice--bad'>
          <Icon name='fa-exclamation-triangle' /> A sync would still overwrite what it hides, unless the Application has the sync option <code>RespectIgnoreDifferences=true</code>.
        </p>
      )}
      {reveals.length > 0 && <Fields title={`Brings up ${plural(reveals.length, 'difference')} that is not flagged now`} fields={reveals} />}
      {coversTotal > hides.length && (
        <details>
          <summary>Would also hide later changes of {plural(coversTotal - hides.length, 'field')}</summary>
          <ul className='moorpin-outcome__list'>
            {later.slice(0, mostShown).map((place, i) => (
              <li key={i}>
                {resourceName(place.resource)}: <code>{fieldPath(place.pointer)}</code>
              </li>
            ))}
            {coversTotal - hides.length > Math.min(later.length, mostShown) && <li>and more</li>}
          </ul>
        </details>
      )}
      {(preview.unheeded ?? []).map((text) => (
        <p key={text} className='moorpin-muted'>
          {show(text)}
        </p>
      ))}
    </div>
  );
}

function Fields({title, fields}: {title: string; fields: PreviewField[]}): React.ReactElement {
  return (
    <React.Fragment>
      <p>{title}:</p>
      <ul className='moorpin-outcome__list'>
        {fields.slice(0, mostShown).map((field, i) => (
          <li key={i}>
            {resourceName(field.resource)}: <code>{fieldPath(field.pointer)}</code> {field.mechanism !== undefined && <span className='moorpin-muted'>{mechanismLabel(field.mechanism)}</span>}{' '}
            {field.sync !== undefined && <SyncBadge sync={field.sync} />}
          </li>
        ))}
        {fields.length > mostShown && <li>and {fields.length - mostShown} more</li>}
      </ul>
    </React.Fragment>
  );
}
