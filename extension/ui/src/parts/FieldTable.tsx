// The fields of a finding, desired and live value side by side.
import * as React from 'react';
import {fieldPath, line, ownerText, plural, sideText, show} from '../text';
import type {Field} from '../types';
import {Button} from './Button';
import {Icon} from './Icon';
import {Time} from './Time';
import {VirtualList} from './VirtualList';

/** Up to this many fields are in the document all at once. */
const mostWhole = 30;
const rowHeight = 32;
/** How much of a value is shown at first, and at all. */
const mostShown = 600;
const mostEver = 50_000;

/** The fields of a finding. */
export function FieldTable({fields, label}: {fields: Field[]; label: string}): React.ReactElement | null {
  if (fields.length === 0) {
    return null;
  }
  return fields.length > mostWhole ? <LongTable fields={fields} label={label} /> : <WholeTable fields={fields} label={label} />;
}

function WholeTable({fields, label}: {fields: Field[]; label: string}): React.ReactElement {
  return (
    <table className='moorpin-fields'>
      <caption className='moorpin-hidden'>{label}</caption>
      <thead>
        <tr>
          <th scope='col'>Field</th>
          <th scope='col'>Desired (Git)</th>
          <th scope='col'>Live</th>
          <th scope='col'>Live value written by</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field, i) => (
          <tr key={i}>
            <th scope='row' className='moorpin-fields__path' title={show(field.pointer)}>
              {fieldPath(field.pointer)}
            </th>
            <td data-label='Desired (Git)'>
              <Value text={sideText(field, 'target')} absent={!('target' in field)} side='target' />
            </td>
            <td data-label='Live'>
              <Value text={sideText(field, 'live')} absent={!('live' in field)} side='live' />
            </td>
            <td data-label='Written by'>
              <Writer field={field} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Writer({field}: {field: Field}): React.ReactElement {
  if (field.owner === undefined) {
    return <span className='moorpin-muted'>{'live' in field ? 'nobody on record' : '–'}</span>;
  }
  return (
    <span className='moorpin-writer'>
      {ownerText(field.owner)}
      <Time at={field.owner.time} lead=' ' />
    </span>
  );
}

/** One side of a field; long ones unfold. */
export function Value({text, absent, side}: {text: string; absent?: boolean; side: 'target' | 'live'}): React.ReactElement {
  const [whole, setWhole] = React.useState(false);
  if (absent === true) {
    return <span className='moorpin-muted moorpin-absent'>{text}</span>;
  }
  const most = whole ? mostEver : mostShown;
  return (
    <React.Fragment>
      <code className={`moorpin-value moorpin-value--${side}`}>{text.length > most ? `${text.slice(0, most)}…` : text}</code>
      {text.length > mostShown && (
        <Button look='link' aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : `Show all ${text.length} characters`}
        </Button>
      )}
    </React.Fragment>
  );
}

/** Very many fields: one line each, windowed, with the chosen one in full below. */
function LongTable({fields, label}: {fields: Field[]; label: string}): React.ReactElement {
  const [chosen, setChosen] = React.useState(-1);
  const field = fields[chosen];
  return (
    <div className='moorpin-long'>
      <div className='moorpin-long__head' aria-hidden='true'>
        <span>Field</span>
        <span>Desired (Git)</span>
        <span>Live</span>
      </div>
      <VirtualList
        count={fields.length}
        rowHeight={rowHeight}
        className='moorpin-virtual'
        height={rowHeight * 12}
        label={`${label}: ${plural(fields.length, 'field')}`}
        chosen={chosen}
        choose={setChosen}
        look={() => 'moorpin-long__row'}
        row={(i) => <LongRow field={fields[i] as Field} />}
      />
      {field === undefined ? (
        <p className='moorpin-muted'>
          <Icon name='fa-info-circle' /> {plural(fields.length, 'field')}. Choose one to see it in full.
        </p>
      ) : (
        <WholeTable fields={[field]} label='The chosen field' />
      )}
    </div>
  );
}

/** One field on a line; scrolling draws only those that come into sight. */
const LongRow = React.memo(function LongRow({field}: {field: Field}): React.ReactElement {
  return (
    <React.Fragment>
      <span>{fieldPath(field.pointer)}</span>
      <code className='moorpin-value--target'>{oneLine(field, 'target')}</code>
      <code className='moorpin-value--live'>{oneLine(field, 'live')}</code>
    </React.Fragment>
  );
});

function oneLine(field: Field, side: 'target' | 'live'): string {
  return line(sideText(field, side).slice(0, 200));
}
