// What can go wrong between the page, Argo CD and the backend.

/** What can be wrong, each with its own help. */
export type Trouble =
  | 'notConfigured'
  | 'noRight'
  | 'backendDown'
  | 'tooSlow'
  | 'versionSkew'
  | 'busy'
  | 'sessionOver'
  | 'refused'
  | 'tooLarge'
  | 'offline'
  | 'noToken';

interface More {
  status?: number;
  hint?: string;
  part?: string;
  retryAfter?: number;
}

/** An answer that did not come, and why. */
export class MoorpinError extends Error {
  readonly trouble: Trouble;
  readonly status: number;
  /** What to do about it, in the words of who refused. */
  readonly hint: string;
  /** The part of the question that is wrong, such as "rules[0].jqPathExpressions[1]". */
  readonly part: string;
  /** After how many seconds to try again; 0 is not at all. */
  readonly retryAfter: number;

  constructor(trouble: Trouble, message: string, more: More = {}) {
    super(message);
    this.name = 'MoorpinError';
    this.trouble = trouble;
    this.status = more.status ?? 0;
    this.hint = more.hint ?? '';
    this.part = more.part ?? '';
    this.retryAfter = more.retryAfter ?? 0;
  }
}

/** The error of whatever was thrown; an abort by the caller stays as it is. */
export function asTrouble(thrown: unknown): MoorpinError {
  if (thrown instanceof MoorpinError) {
    return thrown;
  }
  return new MoorpinError('refused', thrown instanceof Error ? thrown.message : String(thrown));
}

/** Whether the caller itself gave up: nothing to show. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError';
}
