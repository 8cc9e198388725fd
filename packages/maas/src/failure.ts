/**
 * Failures between Sitewright and MAAS, as data. One variant for each case a caller treats differently.
 *
 * Besides the kind, two facts matter. `outcomeUnknown`: a change may have been made although the
 * call failed, so the machine must be read before another request (an error of MAAS does not
 * mean that nothing happened). `retryable`: the same call may succeed later without intervention.
 *
 * No variant contains a header, a key or the body of a 401, because that body can contain the
 * token secret.
 */
interface FailedCall {
  /** Method and path as sent, without host and body, e.g. `POST machines/abc123/?op=deploy`. */
  readonly request: string;
  /** MAAS' text without tags, cut to 2,000 characters; for 401 and lost connections our text. */
  readonly text: string;
  /** Absent without an answer. */
  readonly status?: number;
  readonly outcomeUnknown: boolean;
  readonly retryable: boolean;
  /** The next step for the operator. */
  readonly hint?: string;
}

/** No connection could be made; MAAS has seen nothing of the call. */
interface Unreachable extends FailedCall {
  readonly kind: 'unreachable';
  /** Node's or undici's error code, e.g. `ECONNREFUSED`. */
  readonly code: string;
}
/** The connection broke after the request was (or may have been) sent. */
interface ConnectionLost extends FailedCall {
  readonly kind: 'connection-lost';
  readonly code: string;
}
/** No complete answer within our timeout; MAAS may still be working on it, or have done it. */
interface TimedOut extends FailedCall {
  readonly kind: 'timeout';
  readonly limitMs: number;
}
/**
 * The clock of this process and that of MAAS differ so much that nothing can be decided by times, and MAAS may refuse each request.
 * A fault of this worker, or of MAAS, never of a machine.
 */
interface WorkerClock extends FailedCall {
  readonly kind: 'worker-clock';
  /** Our clock minus the server's, in seconds, if the answer had the server's time. */
  readonly clockSkewSeconds?: number;
}
/** The API key was not accepted. */
export interface Unauthorised extends FailedCall {
  readonly kind: 'unauthorised';
  readonly reason: 'unknown-key' | 'wrong-secret' | 'nonce-replayed' | 'not-recognised';
  /** Our clock minus the server's, in seconds, if the answer had the server's time. */
  readonly clockSkewSeconds?: number;
}
/** The key is valid, but the user lacks permission. MAAS often answers with an empty body. */
interface Forbidden extends FailedCall {
  readonly kind: 'forbidden';
}
/** The machine, tag, zone … does not exist (any more). */
interface NotFound extends FailedCall {
  readonly kind: 'not-found';
  /** MAAS' name for the kind of object, e.g. `Machine`, `Tag`. */
  readonly what: string;
}
/** The path or the operation is unknown: wrong base URL, or a MAAS without this operation. */
interface NoSuchEndpoint extends FailedCall {
  readonly kind: 'no-such-endpoint';
}
/** Values MAAS refuses: a form error per field (`__all__` is the form as a whole). */
interface Invalid extends FailedCall {
  readonly kind: 'invalid';
  readonly fields: Readonly<Record<string, readonly string[]>>;
}
/** 409 in plain text: the state forbids it. Read the machine and decide; never repeat blindly. */
interface StateConflict extends FailedCall {
  readonly kind: 'conflict-state';
}
/** 409 in HTML: MAAS lost its own database race and changed nothing; repeat after the delay. */
interface TransactionConflict extends FailedCall {
  readonly kind: 'conflict-retry';
  readonly retryAfterSeconds: number;
}
/** 500, 502, 503, 504, 429: MAAS, its rack or a proxy in front cannot handle this now. */
interface Unavailable extends FailedCall {
  readonly kind: 'unavailable';
  readonly retryAfterSeconds?: number;
}
/** Not an answer of MAAS' API: another server, a redirect, a broken body. */
interface Unexpected extends FailedCall {
  readonly kind: 'unexpected';
}

export type MaasFailure =
  | Unreachable
  | ConnectionLost
  | TimedOut
  | Unauthorised
  | WorkerClock
  | Forbidden
  | NotFound
  | NoSuchEndpoint
  | Invalid
  | StateConflict
  | TransactionConflict
  | Unavailable
  | Unexpected;

/**
 * The one exception the MAAS client throws. Its message is safe to store and show; `failure` is plain
 * data. It has no `cause`: the underlying errors can contain request headers.
 */
export class MaasError extends Error {
  override readonly name = 'MaasError';
  readonly failure: MaasFailure;

  constructor(failure: MaasFailure) {
    super(describeFailure(failure));
    this.failure = failure;
  }
}

/** One line for people: the request, MAAS' answer, the next step. */
export function describeFailure(failure: MaasFailure): string {
  const answer = failure.status === undefined ? failure.text : `${failure.status}: ${failure.text}`;
  const hint = failure.hint === undefined ? '' : ` (${failure.hint})`;
  return `MAAS ${failure.request}: ${answer}${hint}`;
}

/** Seconds to wait before a retry, if MAAS sent them. */
export function retryAfterSeconds(failure: MaasFailure): number | undefined {
  return failure.kind === 'conflict-retry' || failure.kind === 'unavailable' ? failure.retryAfterSeconds : undefined;
}

/** True for a `MaasError` of one of these kinds. */
export function isMaasFailure(error: unknown, ...kinds: MaasFailure['kind'][]): error is MaasError {
  return error instanceof MaasError && kinds.includes(error.failure.kind);
}
