import * as React from 'react';
import type {ViewState} from '../state';
import {line, mechanismLabel, plural} from '../text';
import {Button} from './Button';
import {Icon} from './Icon';

interface Props {
  state: ViewState;
  onChange: (change: Partial<ViewState>) => void;
  mechanisms: string[];
  kinds: string[];
  shown: number;
  total: number;
}

/** Search and filters over the findings; what is chosen is in the page's URL. */
export function Filters({state, onChange, mechanisms, kinds, shown, total}: Props): React.ReactElement {
  const narrowed = state.mechanism !== '' || state.kind !== '' || state.action || state.search !== '';
  return (
    <div className='moorpin-filters' role='search' aria-label='Findings'>
      <label className='moorpin-search'>
        <span className='moorpin-hidden'>Search findings</span>
        <Icon name='fa-search' />
        <input type='search' className='argo-field' placeholder='Search resources, fields, values, owners' value={state.search} onChange={(event) => onChange({search: event.target.value})} />
      </label>
      <Choice label='Mechanism' value={state.mechanism} options={mechanisms} name={mechanismLabel} onChange={(mechanism) => onChange({mechanism})} />
      <Choice label='Kind' value={state.kind} options={kinds} name={line} onChange={(kind) => onChange({kind})} />
      <label className='moorpin-check'>
        <input type='checkbox' checked={state.action} onChange={(event) => onChange({action: event.target.checked})} /> Needs action
      </label>
      <span className='moorpin-filters__count moorpin-muted' role='status'>
        {shown === total ? plural(total, 'finding') : `${shown} of ${plural(total, 'finding')}`}
      </span>
      {narrowed && (
        <Button look='link' onClick={() => onChange({mechanism: '', kind: '', action: false, search: ''})}>
          Clear filters
        </Button>
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: string[];
  name: (option: string) => string;
  onChange: (value: string) => void;
}

function Choice({label, value, options, name, onChange}: ChoiceProps): React.ReactElement {
  // A link may name what this report does not have; it stays chosen, so that one sees why nothing is shown.
  const all = value === '' || options.includes(value) ? options : [...options, value];
  return (
    <label className='moorpin-choice'>
      <span className='moorpin-muted'>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value=''>All</option>
        {all.map((option) => (
          <option key={option} value={option}>
            {name(option)}
          </option>
        ))}
      </select>
    </label>
  );
}
