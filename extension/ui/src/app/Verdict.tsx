import * as React from 'react';
import type {Loaded} from '../api';
import {Icon} from '../parts/Icon';
import {copy} from '../parts/Snippet';
import {Time} from '../parts/Time';
import {show, syncSentence, syncTone, type Tone} from '../text';
import type {Application} from '../types';
import {markdown, save} from './export';
import {findingsOf} from './arrange';

interface Props {
  app: Application;
  loaded: Loaded;
  busy: boolean;
  stale: boolean;
  reload: () => void;
}

const icons: {[tone in Tone]: string} = {bad: 'fa-exclamation-triangle', warn: 'fa-exclamation-circle', good: 'fa-arrow-alt-circle-up', quiet: 'fa-info-circle'};

/** The answer in one sentence, when it was made, and what can be done with it. */
export function Verdict({app, loaded, busy, stale, reload}: Props): React.ReactElement {
  const {report, comparedAt} = loaded.answer;
  const none = findingsOf(report).length === 0;
  const tone: Tone = none ? 'good' : syncTone(report.sync);
  return (
    <header className={`white-box moorpin-verdict moorpin-verdict--${tone}`}>
      <h2>
        <Icon name={none ? 'fa-check-circle' : icons[tone]} /> <span>{show(report.verdict)}</span>
      </h2>
      <div className='moorpin-verdict__foot'>
        <span className='moorpin-muted'>
          {comparedAt === undefined ? 'Argo CD has not compared yet' : 'Argo CD compared '}
          <Time at={comparedAt} />
          {loaded.feed === 'backend' ? ', read by the backend' : ', read with your rights'}
        </span>
        {stale && (
          <span className='moorpin-tag moorpin-tag--warn' role='status'>
            Argo CD has compared again since
          </span>
        )}
        <span className='moorpin-verdict__buttons'>
          <button type='button' className='argo-button argo-button--base-o' onClick={reload} disabled={busy}>
            <Icon name='fa-sync-alt' spin={busy} /> Refresh
          </button>
          <Export app={app} loaded={loaded} />
        </span>
      </div>
      <span className='moorpin-hidden' role='status'>
        {busy ? 'Making a new report' : `Report ready. ${syncSentence(report.sync)}`}
      </span>
    </header>
  );
}

function Export({app, loaded}: {app: Application; loaded: Loaded}): React.ReactElement {
  const [copied, setCopied] = React.useState(false);
  const name = `drift-${app.metadata.namespace ?? 'argocd'}-${app.metadata.name}`;
  const onMarkdown = (): void => {
    void copy(markdown(loaded)).then((done) => {
      setCopied(done);
      if (!done) {
        save(`${name}.md`, 'text/markdown', markdown(loaded));
      }
    });
  };
  React.useEffect(() => {
    if (!copied) {
      return undefined;
    }
    const timer = setTimeout(() => setCopied(false), 2500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <React.Fragment>
      <button type='button' className='argo-button argo-button--base-o' title='Copy the report as Markdown, for a ticket or a comment' onClick={onMarkdown}>
        <Icon name={copied ? 'fa-check' : 'fa-copy'} /> {copied ? 'Copied' : 'Copy Markdown'}
      </button>
      <button
        type='button'
        className='argo-button argo-button--base-o'
        title='Save the report as JSON, with everything in it'
        onClick={() => save(`${name}.json`, 'application/json', `${JSON.stringify(loaded.answer, null, 2)}\n`)}>
        <Icon name='fa-download' /> JSON
      </button>
    </React.Fragment>
  );
}
