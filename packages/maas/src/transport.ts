import { Agent, DecoratorHandler, type Dispatcher, request as send } from 'undici';

/** One HTTP attempt, headers complete. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole exchange, including connecting and reading the body. */
  readonly timeoutMs: number;
  /** It must not leave after this moment (ms since 1970), to be checked right before its first byte is sent. */
  readonly sendBy?: number;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends one attempt and never repeats it: a retry here would send the same nonce twice, and
 * MAAS would answer 401. Rejects with `TransportError`, or with the reason of an aborted signal.
 */
export interface Transport {
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

/** Why there is no answer. Has only a code: the underlying errors may contain headers. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly kind: 'unreachable' | 'tls' | 'lost' | 'timeout' | 'too-large' | 'late';
  readonly code: string;

  constructor(kind: TransportError['kind'], code: string) {
    super(`${kind}: ${code}`);
    this.kind = kind;
    this.code = code;
  }
}

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const tlsCode = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO)/;

/** 500 machines of real hardware take about 30 MB; more than this is not an answer of MAAS. */
const largestAnswer = 256 * 1024 * 1024;

/** The production transport: undici, a few kept connections, no retries, no redirects. */
export function undiciTransport(options: { readonly connections?: number } = {}): Transport {
  const agent = new Agent({
    connections: options.connections ?? 8,
    pipelining: 1,
    connect: { timeout: 10_000 },
    // One timeout for the whole exchange is set below; undici's own are per phase.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    send: (request) => attempt(agent, request),
    // At once: callers have ended, and leftover requests may hang.
    close: () => agent.destroy(),
  };
}

async function attempt(agent: Agent, request: HttpRequest): Promise<HttpAnswer> {
  request.signal?.throwIfAborted();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), request.timeoutMs);
  const signals = request.signal ? [limit.signal, request.signal] : [limit.signal];
  try {
    const answer = await send(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      dispatcher: request.sendBy === undefined ? agent : agent.compose(leavingBy(request.sendBy)),
      signal: AbortSignal.any(signals),
    });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > largestAnswer) throw new TransportError('too-large', 'ANSWER_TOO_LARGE');
      chunks.push(chunk);
    }
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
    }
    return { status: answer.statusCode, headers, body: Buffer.concat(chunks).toString('utf8') };
  } catch (error) {
    if (error instanceof TransportError) throw error;
    request.signal?.throwIfAborted();
    if (limit.signal.aborted) throw new TransportError('timeout', 'TIMEOUT');
    const code = errorCode(error);
    if (neverConnected.has(code)) throw new TransportError('unreachable', code);
    if (tlsCode.test(code)) throw new TransportError('tls', code);
    throw new TransportError('lost', code);
  } finally {
    clearTimeout(timer);
  }
}

/** The request was not sent: what allowed it is too old. */
export const tooLate = (): TransportError => new TransportError('late', 'NOT_SENT_IN_TIME');

/**
 * Refuses a request that has a connection too late. Undici calls this in the same turn of the event loop as it writes the request: a
 * process that was held up wakes before it, or not before the request is gone.
 */
const leavingBy =
  (sendBy: number): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, new Punctual(handler, sendBy));

class Punctual extends DecoratorHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #sendBy: number;

  constructor(handler: Dispatcher.DispatchHandler, sendBy: number) {
    super(handler);
    this.#handler = handler;
    this.#sendBy = sendBy;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
    if (Date.now() > this.#sendBy) controller.abort(tooLate());
  }
}

function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : 'UNKNOWN';
}
