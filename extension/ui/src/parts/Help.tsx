// What to do when nothing can be shown: one sentence, and the exact line to add.
import * as React from 'react';
import type {MoorpinError, Trouble} from '../errors';
import {show} from '../text';
import {Button} from './Button';
import {Icon} from './Icon';
import {Snippet} from './Snippet';

interface Advice {
  title: string;
  text: string;
  /** The exact lines, and where they belong. */
  lines?: {where: string; text: string}[];
}

const config = `extension.config.moorpin: |
  services:
  - url: http://moorpin-extension:8080
    headers:
    - name: Moorpin-Secret
      value: '$moorpin-extension:secret'`;

const advices: {[trouble in Trouble]: Advice} = {
  notConfigured: {
    title: 'The Drift extension is not switched on in this Argo CD.',
    text: 'Somebody who runs Argo CD has to add these lines, and restart argocd-server.',
    lines: [
      {where: 'argocd-cm, below data', text: config},
      {where: 'argocd-cmd-params-cm, below data', text: 'server.enable.proxy.extension: "true"'},
    ],
  },
  noRight: {
    title: 'You may not use the Drift extension.',
    text: 'Argo CD lets nobody invoke an extension, not even an admin, before a policy says so. Add this line, with your own role. Where it is there, the AppProject may not permit the cluster of the Application: the answer is the same.',
    lines: [{where: 'argocd-rbac-cm, below data', text: 'policy.moorpin.csv: |\n  p, role:readonly, extensions, invoke, moorpin, allow'}],
  },
  backendDown: {
    title: 'The backend of the Drift extension does not answer.',
    text: 'Argo CD knows it, but could not reach it. Its Pod may be starting; if it stays so, look at it.',
    lines: [{where: 'in a shell', text: 'kubectl --namespace argocd get pods,service --selector app.kubernetes.io/name=moorpin-extension'}],
  },
  tooSlow: {
    title: 'The answer took too long.',
    text: 'The Application is large, or Argo CD is busy. Trying again often helps: what was made meanwhile is kept.',
  },
  versionSkew: {
    title: 'This page and its backend are of different versions.',
    text: 'Reload the page. If it stays so, give the init container of argocd-server and the backend the same image.',
    lines: [{where: 'in a shell', text: "kubectl --namespace argocd get deployment -o custom-columns='NAME:.metadata.name,IMAGES:.spec.template.spec.*[*].image'"}],
  },
  busy: {title: 'The backend is busy.', text: 'Too many reports are being made right now. Try again in some seconds.'},
  sessionOver: {title: 'Your session has ended.', text: 'Log in to Argo CD again, then come back.'},
  refused: {title: 'The question was refused.', text: ''},
  tooLarge: {
    title: 'The Application is too large to send.',
    text: 'Give the backend a token of its own, so that it collects by itself, or allow larger bodies.',
    lines: [{where: 'arguments of the backend', text: '--max-body=64'}],
  },
  offline: {title: 'Argo CD cannot be reached.', text: 'Your connection may be down. Try again when it is back.'},
  noToken: {title: 'The backend cannot collect by itself.', text: 'It has no token of Argo CD.'},
};

interface Props {
  error: MoorpinError;
  retry?: () => void;
  /** It is being tried again. */
  busy?: boolean;
}

/** What is wrong and what to do about it. */
export function Help({error, retry, busy}: Props): React.ReactElement {
  const advice = advices[error.trouble] ?? advices.refused;
  const own = error.trouble === 'refused' || error.trouble === 'busy' || error.trouble === 'versionSkew' || error.trouble === 'tooLarge';
  return (
    <div className='moorpin-help white-box' role='alert'>
      <h3 className='moorpin-help__title'>
        <Icon name='fa-exclamation-circle' /> {advice.title}
      </h3>
      {own && <p>{show(error.message)}</p>}
      {error.hint !== '' && <p>{show(error.hint)}</p>}
      {advice.text !== '' && <p>{advice.text}</p>}
      {(advice.lines ?? []).map((wanted) => (
        <div key={wanted.where}>
          <p className='moorpin-muted'>{wanted.where}:</p>
          <Snippet text={wanted.text} label={`What to add, ${wanted.where}`} />
        </div>
      ))}
      {retry !== undefined && (
        <Button look='base' aria-disabled={busy} onClick={retry}>
          {busy === true ? <Icon name='fa-circle-notch' spin /> : null} {busy === true ? 'Trying again…' : 'Try again'}
        </Button>
      )}
    </div>
  );
}
