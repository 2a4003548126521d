import * as React from 'react';
import {fixLabel, resourceName, show, whereLabel} from '../text';
import type {Finding} from '../types';
import {Button} from './Button';
import {Icon} from './Icon';
import {Snippet} from './Snippet';

/** The ways to make a finding go away, the recommended one first, the others folded. */
export function FixList({finding, argocdVersion}: {finding: Finding; argocdVersion?: string}): React.ReactElement | null {
  const [all, setAll] = React.useState(false);
  const {fixes} = finding;
  if (fixes.length === 0) {
    return null;
  }
  const shown = all ? fixes : fixes.slice(0, 1);
  return (
    <div className='moorpin-fixes'>
      <h5>{fixes.length > 1 ? 'Fixes, the recommended one first' : 'Fix'}</h5>
      <ol className='moorpin-plain'>
        {shown.map((fix, i) => (
          <li key={i} className='moorpin-fix'>
            <p>
              <strong>{fixLabel(fix.kind)}</strong> <span className='moorpin-tag'>{whereLabel(fix.where)}</span>
              {fix.proven && (
                <span className='moorpin-tag moorpin-tag--good' title='Tried on this comparison: the finding went away and nothing else appeared.'>
                  <Icon name='fa-check' /> proven{argocdVersion ? ` for Argo CD ${show(argocdVersion)}` : ''}
                </span>
              )}
            </p>
            {fix.why !== '' && <p>{show(fix.why)}</p>}
            {fix.snippet !== '' && <Snippet text={fix.snippet} label={`${fixLabel(fix.kind)}: ${resourceName(finding.resource)}`} />}
          </li>
        ))}
      </ol>
      {fixes.length > 1 && (
        <Button look='link' aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show the recommended fix only' : `Show ${fixes.length - 1} other ${fixes.length === 2 ? 'way' : 'ways'}`}
        </Button>
      )}
    </div>
  );
}
