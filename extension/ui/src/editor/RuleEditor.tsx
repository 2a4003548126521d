// The editor of an ignore rule: what it would hide, now and later, and whether the
// Application would be Synced, before anybody commits it.
import * as React from 'react';
import {prove, type Loaded} from '../api';
import {asTrouble, isAbort, type MoorpinError} from '../errors';
import {Button} from '../parts/Button';
import {Icon} from '../parts/Icon';
import {Snippet} from '../parts/Snippet';
import {show} from '../text';
import type {Application, Preview} from '../types';
import {Outcome} from './Outcome';
import {emptyDraft, expressions, mistake, ruleOf, ways, yamlOf, type Draft} from './rules';

export type {Draft} from './rules';

interface Props {
  app: Application;
  loaded: Loaded;
  draft?: Draft;
  close: () => void;
}

/** How long to wait for the next key before asking, in milliseconds. */
const pause = 400;

interface Trial {
  preview?: Preview;
  error?: MoorpinError;
  busy: boolean;
}

/** Asks what the draft would do, a moment after the last change. */
function useTrial({app, loaded}: Props, draft: Draft): Trial {
  const [trial, setTrial] = React.useState<Trial>({busy: false});
  const wanted = mistake(draft) === '' ? JSON.stringify(ruleOf(draft)) : '';
  const latest = React.useRef(app);
  latest.current = app;
  React.useEffect(() => {
    if (wanted === '') {
      setTrial({busy: false});
      return undefined;
    }
    const given = new AbortController();
    // What was found out of another rule must not stand beside this one.
    setTrial({busy: true});
    const timer = setTimeout(() => {
      prove(latest.current, [JSON.parse(wanted)], loaded.snapshot, given.signal)
        .then((preview) => setTrial({preview, busy: false}))
        .catch((thrown: unknown) => {
          if (!isAbort(thrown)) {
            setTrial({error: asTrouble(thrown), busy: false});
          }
        });
    }, pause);
    return () => {
      clearTimeout(timer);
      given.abort();
    };
  }, [wanted, loaded]);
  return trial;
}

/** The editor of an ignore rule. */
export function RuleEditor(props: Props): React.ReactElement {
  const [draft, setDraft] = React.useState<Draft>(() => props.draft ?? emptyDraft(props.loaded.answer.report.findings.find(({fields}) => fields.length > 0)?.resource));
  const trial = useTrial(props, draft);
  const box = React.useRef<HTMLElement>(null);
  React.useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    const inside = box.current;
    inside?.scrollIntoView?.({block: 'nearest'});
    inside?.focus();
    // Where it is closed from within, the keyboard goes on from where it was opened.
    return () => {
      if (document.activeElement === document.body || inside?.contains(document.activeElement) === true) {
        setTimeout(() => (opener?.isConnected === true ? opener : document.querySelector<HTMLElement>('.moorpin-tools button'))?.focus());
      }
    };
  }, []);
  const wrong = mistake(draft);
  return (
    <section className='white-box moorpin-editor' aria-label='Try an ignore rule' ref={box} tabIndex={-1}>
      <div className='moorpin-editor__head'>
        <h3>Try an ignore rule</h3>
        <Button look='link' onClick={props.close} aria-label='Close the editor'>
          <Icon name='fa-times' />
        </Button>
      </div>
      <p className='moorpin-muted'>Nothing is saved: this shows what the rule would hide, so that you can commit it with open eyes.</p>
      <div className='moorpin-editor__columns'>
        <Form draft={draft} onChange={(change) => setDraft({...draft, ...change})} />
        <div className='moorpin-editor__outcome' aria-live='polite' aria-busy={trial.busy}>
          {wrong !== '' && <p className='moorpin-muted'>{show(wrong)}</p>}
          {trial.busy && (
            <p>
              <Icon name='fa-circle-notch' spin /> Trying it…
            </p>
          )}
          {trial.error !== undefined && <Refusal error={trial.error} draft={draft} />}
          {trial.preview !== undefined && <Outcome preview={trial.preview} />}
        </div>
      </div>
      {wrong === '' && trial.error === undefined && <Snippet text={yamlOf(ruleOf(draft))} label='The rule, for the Application' />}
    </section>
  );
}

/** What the backend finds wrong with the rule, with the line that it means. */
function Refusal({error, draft}: {error: MoorpinError; draft: Draft}): React.ReactElement {
  const at = /\[(\d+)\]$/.exec(error.part);
  const meant = at === null ? undefined : expressions(draft)[Number(at[1])];
  return (
    <div className='moorpin-notice moorpin-notice--bad' role='alert'>
      <p>
        <Icon name='fa-exclamation-circle' /> {show(error.message)}
      </p>
      {meant !== undefined && (
        <p>
          In the line <code>{show(meant)}</code>
        </p>
      )}
      {error.hint !== '' && <p>{show(error.hint)}</p>}
    </div>
  );
}

function Form({draft, onChange}: {draft: Draft; onChange: (change: Partial<Draft>) => void}): React.ReactElement {
  const way = ways.find(({id}) => id === draft.way) ?? ways[0];
  return (
    <div className='moorpin-form'>
      {(['group', 'kind', 'namespace', 'name'] as const).map((field) => (
        <label key={field}>
          <span>{{group: 'API group', kind: 'Kind', namespace: 'Namespace', name: 'Name'}[field]}</span>
          <input className='argo-field' value={draft[field]} spellCheck={false} placeholder={field === 'kind' ? 'Deployment' : 'any'} onChange={(event) => onChange({[field]: event.target.value})} />
        </label>
      ))}
      <fieldset>
        <legend>Ignore by</legend>
        {ways.map(({id, label}) => (
          <label key={id} className='moorpin-check'>
            <input type='radio' name='moorpin-way' checked={draft.way === id} onChange={() => onChange({way: id})} /> {label}
          </label>
        ))}
      </fieldset>
      <label className='moorpin-form__wide'>
        <span>{way?.label}, one a line</span>
        <textarea rows={4} spellCheck={false} value={draft.text} placeholder={way?.example} onChange={(event) => onChange({text: event.target.value})} />
      </label>
    </div>
  );
}
