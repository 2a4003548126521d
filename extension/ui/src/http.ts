// Requests of the page's own origin, and what their failures mean.
//
// Every URL is relative, so that Argo CD's root path holds, and every request carries
// the user's own cookie and nothing else. Argo CD's proxy answers for an extension in
// several ways that look alike; translate tells them apart.
import {MoorpinError} from './errors';
import type {Problem} from './types';

/** Longer than the backend and Argo CD take, so that their own word comes first. */
const patience = 20_000;

export interface Request {
  method?: 'GET' | 'POST';
  headers?: {[name: string]: string};
  body?: string;
  signal?: AbortSignal;
}

/** Sends a request and gives back the text of its successful answer, which is JSON. */
export async function ask(url: string, request: Request = {}): Promise<string> {
  const given = new AbortController();
  let slow = false;
  const timer = setTimeout(() => {
    slow = true;
    given.abort();
  }, patience);
  const stop = (): void => given.abort();
  if (request.signal?.aborted) {
    stop();
  }
  request.signal?.addEventListener('abort', stop);
  try {
    const response = await fetch(url, {
      method: request.method ?? 'GET',
      headers: {Accept: 'application/json', ...request.headers},
      body: request.body,
      credentials: 'same-origin',
      signal: given.signal,
    });
    const text = await response.text();
    if (!response.ok || !isJSON(response)) {
      throw translate(response, text, url.startsWith('extensions/'));
    }
    return text;
  } catch (thrown) {
    if (slow) {
      throw new MoorpinError('tooSlow', `No answer came within ${patience / 1000} seconds.`);
    }
    if (thrown instanceof TypeError) {
      throw new MoorpinError('offline', 'Argo CD cannot be reached.');
    }
    throw thrown;
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', stop);
  }
}

function isJSON(response: Response): boolean {
  return (response.headers.get('Content-Type') ?? '').includes('json');
}

/** The backend's refusal, which Argo CD's own ones have the look of, but for their code. */
function problemOf(text: string): Problem | undefined {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string' && !('code' in body)) {
      return body as Problem;
    }
  } catch {
    // No JSON, so it is not the backend's.
  }
  return undefined;
}

/** What an answer that is no success means. */
export function translate(response: Response, text: string, extension: boolean): MoorpinError {
  const {status} = response;
  const retryAfter = Number(response.headers.get('Retry-After') ?? '0') || 0;
  const problem = problemOf(text);
  if (extension && problem !== undefined) {
    return ofBackend(status, problem, retryAfter);
  }
  const said = {status, retryAfter};
  if (status === 401) {
    return extension && text.includes('Unauthorized extension request')
      ? new MoorpinError('noRight', 'You may not use the Drift extension.', said)
      : new MoorpinError('sessionOver', 'Your session has ended.', said);
  }
  if (status === 504) {
    return new MoorpinError('tooSlow', 'The answer took too long.', said);
  }
  if (!extension) {
    // Argo CD's API answers with nothing but JSON: a success of another kind is somebody's login page.
    return status === 200 ? new MoorpinError('sessionOver', 'Your session has ended.', said) : ofArgoCD(status, text, retryAfter);
  }
  switch (status) {
    case 200:
    case 404:
      return new MoorpinError('notConfigured', 'The Drift extension is not configured in this Argo CD.', said);
    case 413:
      return new MoorpinError('tooLarge', 'The Application is too large to send.', said);
    case 429:
      return new MoorpinError('busy', 'Too many requests.', said);
    case 500:
    case 502:
    case 503:
      return new MoorpinError('backendDown', 'The backend of the Drift extension does not answer.', said);
    default:
      return new MoorpinError('refused', `Argo CD answered ${status}.`, {...said, hint: text.slice(0, 300)});
  }
}

function ofBackend(status: number, problem: Problem, retryAfter: number): MoorpinError {
  const more = {status, retryAfter, hint: problem.hint, part: problem.part};
  const trouble = (): MoorpinError['trouble'] => {
    switch (status) {
      case 404:
        return problem.error.includes('nothing here') ? 'versionSkew' : 'refused';
      case 405:
        return 'versionSkew';
      case 413:
        return 'tooLarge';
      case 429:
      case 503:
        return 'busy';
      case 501:
        return 'noToken';
      case 504:
        return 'tooSlow';
      default:
        return 'refused';
    }
  };
  return new MoorpinError(trouble(), problem.error, more);
}

function ofArgoCD(status: number, text: string, retryAfter: number): MoorpinError {
  let said = '';
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string') {
      said = body.message;
    }
  } catch {
    // Argo CD says nothing readable; its status is all there is.
  }
  const message = said === '' ? `Argo CD answered ${status}.` : `Argo CD answered ${status}: ${said.slice(0, 300)}`;
  return new MoorpinError(status === 429 || status === 503 ? 'busy' : 'refused', message, {status, retryAfter});
}
