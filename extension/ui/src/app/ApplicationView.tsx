// The application view "Drift": why the Application is OutOfSync, at a glance.
import * as React from 'react';
import {nameOf, type Loaded} from '../api';
import {RuleEditor, type Draft} from '../editor/RuleEditor';
import {useReport} from '../panel/shared';
import {Button} from '../parts/Button';
import {Filters} from '../parts/Filters';
import {Help} from '../parts/Help';
import {Icon} from '../parts/Icon';
import {Loading} from '../parts/Loading';
import {LossBox} from '../parts/Loss';
import {Notes} from '../parts/Notes';
import {findingKey, read, write, type ViewState} from '../state';
import type {Application, AppViewProps, Finding} from '../types';
import {draftOf} from '../editor/rules';
import {arrange, filtered, findingsOf, losing} from './arrange';
import {Groups} from './Groups';
import {Verdict} from './Verdict';

/** The state of the view, which is the URL's too. */
function useViewState(): [ViewState, (change: Partial<ViewState>) => void] {
  const [state, setState] = React.useState<ViewState>(read);
  const [page] = React.useState(() => window.location.pathname);
  React.useEffect(() => {
    const moved = (): void => {
      if (window.location.pathname === page) {
        setState(read());
      }
    };
    window.addEventListener('popstate', moved);
    return () => window.removeEventListener('popstate', moved);
  }, [page]);
  React.useEffect(() => write(state, page), [state, page]);
  const change = React.useCallback((by: Partial<ViewState>) => setState((before) => ({...before, ...by})), []);
  return [state, change];
}

/** The application view "Drift". */
export function ApplicationView({application}: AppViewProps): React.ReactElement {
  // Another Application is another view: nothing of the last one may stay.
  return <View key={nameOf(application)} app={application} />;
}

function View({app}: {app: Application}): React.ReactElement {
  const [state, change] = useViewState();
  const {loaded, error, loading, stale, step, again} = useReport(app, {ask: true, all: state.all, meanwhile: true});
  return (
    <div className='moorpin moorpin-view'>
      {error !== undefined && <Help error={error} retry={again} busy={loading} />}
      {loaded === undefined && error === undefined && <Loading step={step ?? `Finding out why ${nameOf(app)} differs`} rows={6} />}
      {loaded !== undefined && (
        <React.Fragment>
          <Verdict app={app} loaded={loaded} busy={loading} stale={stale} reload={again} />
          <Body app={app} loaded={loaded} state={state} change={change} />
        </React.Fragment>
      )}
    </div>
  );
}

interface BodyProps {
  app: Application;
  loaded: Loaded;
  state: ViewState;
  change: (change: Partial<ViewState>) => void;
}

function Body({app, loaded, state, change}: BodyProps): React.ReactElement {
  const {report} = loaded.answer;
  const [draft, setDraft] = React.useState<Draft | undefined>(undefined);
  const findings = React.useMemo(() => findingsOf(report), [report]);
  const shown = React.useMemo(() => filtered(findings, state), [findings, state.mechanism, state.kind, state.action, state.search]);
  const sections = React.useMemo(() => arrange(shown), [shown]);
  const unique = (values: string[]): string[] => [...new Set(values)].sort();
  const mechanisms = React.useMemo(() => unique(findings.map(({mechanism}) => mechanism)), [findings]);
  const kinds = React.useMemo(() => unique(findings.map(({resource}) => resource.kind)), [findings]);
  const open = (finding: Finding): void => change({open: findingKey(finding), mechanism: '', kind: '', action: false, search: ''});
  const inPlace = useReveal(state.open);
  return (
    <React.Fragment>
      <LossBox findings={losing(findings)} onOpen={open} />
      <Notes loaded={loaded} />
      {findings.length > 0 && <Filters state={state} onChange={change} mechanisms={mechanisms} kinds={kinds} shown={shown.length} total={findings.length} />}
      <Groups
        sections={sections}
        open={state.open}
        onOpen={(key) => {
          inPlace.current = true;
          change({open: key});
        }}
        onIgnore={(finding) => {
          setDraft(draftOf(finding));
          change({editor: true});
        }}
        argocdVersion={loaded.argocdVersion}
      />
      {findings.length > 0 && shown.length === 0 && <p className='white-box moorpin-empty'>No finding fits these filters.</p>}
      {findings.length === 0 && <Nothing loaded={loaded} />}
      <div className='moorpin-tools'>
        {loaded.feed === 'browser' && (
          <label className='moorpin-check'>
            <input type='checkbox' checked={state.all} onChange={(event) => change({all: event.target.checked})} /> Also look into resources that Argo CD calls Synced
          </label>
        )}
        <Button aria-expanded={state.editor} onClick={() => change({editor: !state.editor})}>
          <Icon name='fa-eye-slash' /> {state.editor ? 'Close the editor' : 'Try an ignore rule'}
        </Button>
      </div>
      {state.editor && <RuleEditor key={draft?.id ?? 'empty'} app={app} loaded={loaded} draft={draft} close={() => change({editor: false})} />}
    </React.Fragment>
  );
}

/**
 * Brings the open finding into sight, and the focus to it, unless it was opened where it
 * stands: then the given reference is set to true before.
 */
function useReveal(open: string): React.MutableRefObject<boolean> {
  const inPlace = React.useRef(false);
  const first = React.useRef(true);
  React.useEffect(() => {
    const finding = open === '' || inPlace.current ? null : document.querySelector('.moorpin-finding--open');
    finding?.scrollIntoView?.({block: 'nearest'});
    if (!first.current) {
      finding?.querySelector('button')?.focus({preventScroll: true});
    }
    inPlace.current = false;
    first.current = false;
  }, [open]);
  return inPlace;
}

/** That nothing was found, and in how much. */
function Nothing({loaded}: {loaded: Loaded}): React.ReactElement {
  return (
    <div className='white-box moorpin-empty'>
      {loaded.partial ? (
        <p>
          <strong>Nothing was found in what could be read.</strong> Some resources could not.
        </p>
      ) : (
        <p>
          <Icon name='fa-check-circle' /> <strong>Nothing drifts.</strong> What Git declares is what the cluster holds.
        </p>
      )}
      {!loaded.all && <p className='moorpin-muted'>Changes that Argo CD does not compare are looked for only when you ask for them below.</p>}
    </div>
  );
}
