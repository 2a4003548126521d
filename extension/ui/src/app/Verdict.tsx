import * as React from 'react';
import type {Loaded} from '../api';
import {Button} from '../parts/Button';
import {Icon} from '../parts/Icon';
import {copy} from '../parts/Snippet';
import {Time} from '../parts/Time';
import {show, syncSentence, syncTone, toneIcons, type Tone} from '../text';
import type {Application} from '../types';
import {markdown, save} from './export';
import {findingsOf, verdictOf} from './arrange';

interface Props {
  app: Application;
  loaded: Loaded;
  busy: boolean;
  stale: boolean;
  reload: () => void;
}

/** The answer in one sentence, when it was made, and what can be done with it. */
export function Verdict({app, loaded, busy, stale, reload}: Props): React.ReactElement {
  const {report, comparedAt} = loaded.answer;
  const none = findingsOf(report).length === 0;
  const tone: Tone = !none ? syncTone(report.sync) : loaded.partial ? 'quiet' : 'good';
  return (
    <header className={`white-box moorpin-verdict moorpin-verdict--${tone}`}>
      <h2>
        <Icon name={none && !loaded.partial ? 'fa-check-circle' : toneIcons[tone]} /> <span>{show(verdictOf(loaded))}</span>
      </h2>
      <div className='moorpin-verdict__foot'>
        <span className='moorpin-muted'>
          {comparedAt !== undefined && 'Argo CD compared '}
          <Time at={comparedAt} />
          {comparedAt === undefined ? 'Read' : ', read'}
          {loaded.feed === 'backend' ? ' by the backend ' : ' with your rights '}
          <Time at={loaded.at} />
        </span>
        {stale && (
          <span className='moorpin-tag moorpin-tag--warn' role='status'>
            {busy ? 'The Application has changed since: reading it again' : 'The Application has changed since'}
          </span>
        )}
        <span className='moorpin-verdict__buttons'>
          <Button onClick={reload} aria-disabled={busy}>
            <Icon name='fa-sync-alt' spin={busy} /> Refresh
          </Button>
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
      <Button title='Copy the report as Markdown, for a ticket or a comment' onClick={onMarkdown}>
        <Icon name={copied ? 'fa-check' : 'fa-copy'} /> {copied ? 'Copied' : 'Copy Markdown'}
      </Button>
      <Button
        title='Save the report as JSON, with everything in it'
        onClick={() => save(`${name}.json`, 'application/json', `${JSON.stringify(loaded.answer, null, 2)}\n`)}>
        <Icon name='fa-download' /> JSON
      </Button>
    </React.Fragment>
  );
}
