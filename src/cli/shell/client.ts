import { createParser } from 'eventsource-parser';
import type { Api } from '../../core/contracts/api.ts';
import { BUDGETS } from '../../core/contracts/budget.ts';
import type { ProblemBody } from '../../core/contracts/problem.ts';
import type { AnswerOf, AskOf, EventOf } from '../../core/contracts/route.ts';
import { given } from '../../core/data/given.ts';
import { withoutEnd } from '../../core/text/text.ts';
import { EXIT, exitCodeOfStatus } from './exit-codes.ts';
import { CliError, type CliProblem, usageError } from './problem.ts';
import { isChange, WouldChange } from './would-change.ts';

/** Timeout of a request. Updates of a run wait for its worker, which may be busy. */
const LIMIT_MS = 90_000;
/** Rehearsals wait for each other, and large ones take minutes: the API ends them sooner than this. */
const REHEARSAL_MS = (BUDGETS.rehearsing.seconds + 30) * 1000;
const LIMITS_MS: Readonly<Partial<Record<string, number>>> = {
  'POST /sites/:site/rehearsals': REHEARSAL_MS,
  'POST /clusters/:id/rehearsals': REHEARSAL_MS,
} satisfies Partial<Record<At, number>>;

export interface OperatorNote {
  readonly reason?: string;
  readonly by?: string;
}

/** A route of the API, such as `GET /runs/:run`. */
export type At = keyof Api & string;
export type Ask<R extends At> = AskOf<Api[R]>;
/** Optional for a route that needs nothing. */
type AskArguments<R extends At> = Record<never, never> extends Ask<R> ? [ask?: Ask<R>] : [ask: Ask<R>];
type Query<R extends At> = NonNullable<Ask<R>['query']>;
/** The body of a route. */
export type Body<R extends At> = NonNullable<Ask<R>['body']>;
/** The answer of a route. */
export type Answer<R extends At> = AnswerOf<Api[R]>;

/** The content of a request of any route. */
interface Sent {
  readonly params?: Readonly<Record<string, string | number | boolean>>;
  readonly query?: object;
  readonly body?: unknown;
}

/** User input, as (part of) a body: the API checks it, and reports problems. */
export const unchecked = (written: unknown) => written as never;

interface ApiClientOptions {
  /** Base address, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Who acts, for the audit trail. */
  readonly user?: string;
  /** Sent to the API with each request. */
  readonly token?: string;
  readonly fetch?: typeof fetch;
  readonly limitMs?: number;
  /** Whether to end before the first change, with `WouldChange`. */
  readonly dryRun?: boolean;
}

/**
 * The REST API, typed. Every call throws a CliError: the API's problem with its exit code, or
 * `api-unreachable`.
 */
export class ApiClient {
  readonly url: string;
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.url = withoutEnd(options.url, '/');
    this.#options = options;
  }

  /** Calls a route of the API. A body of bytes is an archive. */
  call<R extends At>(at: R, ...[ask]: AskArguments<R>): Promise<Answer<R>> {
    return this.#json(at, ask ?? {});
  }

  /** Calls a route whose answer is not JSON. */
  async text<R extends At>(at: R, ...[ask]: AskArguments<R>): Promise<string> {
    return (await this.#send(at, ask ?? {}, '*/*')).text;
  }

  readonly sites = {
    list: () => this.call('GET /sites'),
    create: (body: Body<'POST /sites'>) => this.call('POST /sites', { body }),
    get: (site: string) => this.call('GET /sites/:site', { params: { site } }),
    delete: (site: string) => this.call('DELETE /sites/:site', { params: { site } }),
    commit: (site: string, body: Body<'POST /sites/:site/revisions'>) =>
      this.call('POST /sites/:site/revisions', { params: { site }, body }),
    files: (site: string, ref: string) => this.call('GET /sites/:site/revisions/:ref/files', { params: { site, ref } }),
    rendered: (site: string, ref: string) =>
      this.call('GET /sites/:site/revisions/:ref/rendered', { params: { site, ref } }),
    strategy: (site: string, ref: string) =>
      this.call('GET /sites/:site/revisions/:ref/strategy', { params: { site, ref } }),
    difference: (site: string, ref: string, query: Query<'GET /sites/:site/revisions/:ref/difference'>) =>
      this.call('GET /sites/:site/revisions/:ref/difference', { params: { site, ref }, query }),
    select: (site: string, ref: string, body: Body<'POST /sites/:site/revisions/:ref/select'>) =>
      this.call('POST /sites/:site/revisions/:ref/select', { params: { site, ref }, body }),
    start: (site: string, body: Body<'POST /sites/:site/runs'>) =>
      this.call('POST /sites/:site/runs', { params: { site }, body }),
  };

  readonly nodes = {
    status: (site: string, revision?: string) =>
      this.call('GET /sites/:site/nodes/status', { params: { site }, query: { revision } }),
  };

  readonly runs = {
    list: (query: Query<'GET /runs'>) => this.call('GET /runs', { query }),
    get: (run: string) => this.call('GET /runs/:run', { params: { run } }),
    status: (run: string, signal?: AbortSignal): Promise<Answer<'GET /runs/:run/status'>> =>
      this.#json('GET /runs/:run/status', { params: { run } }, signal),
    report: (run: string) => this.call('GET /runs/:run/report', { params: { run } }),
    act: (run: string, action: 'pause' | 'resume' | 'stop' | 'cancel', body: OperatorNote) =>
      this.call(`POST /runs/:run/${action}`, { params: { run }, body }),
  };

  readonly maas = { check: () => this.call('GET /maas/check') };

  /** Returns the answer even when a check failed. */
  readonly health = (): Promise<Answer<'GET /health'>> => this.#json('GET /health', {}, undefined, 503);
  readonly version = () => this.call('GET /version');

  /** Events of a streamed answer as they arrive; ends with the answer. Without a timeout. */
  async *events<R extends At>(at: R, ask: Ask<R>, signal: AbortSignal): AsyncGenerator<EventOf<Api[R]>, void, void> {
    const fetching = this.#options.fetch ?? fetch;
    let answer: Response;
    try {
      answer = await fetching(this.#addressOf(at, ask).url, {
        headers: { accept: 'text/event-stream, application/problem+json', ...this.#credentials() },
        signal,
      });
    } catch (error) {
      throw signal.aborted ? error : this.#unreachable(error, undefined);
    }
    if (!answer.ok || answer.body === null) {
      throw this.#failureOf(answer.status, readJson(await answer.text()));
    }
    let come: object[] = [];
    const parser = createParser({
      onEvent: ({ event, id, data }) => come.push({ event, id: Number(id), data: readJson(data) }),
    });
    const decoder = new TextDecoder();
    try {
      for await (const bytes of answer.body) {
        parser.feed(decoder.decode(bytes, { stream: true }));
        const events = come;
        come = [];
        yield* events as EventOf<Api[R]>[];
      }
    } catch (error) {
      throw signal.aborted ? error : this.#unreachable(error, undefined);
    }
  }

  #credentials(): Readonly<Record<string, string>> {
    const { token } = this.#options;
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** Method and address of a request. Escapes only the values: a name with slashes stays one segment of the path. */
  #addressOf(at: string, { params = {}, query = {} }: Sent): { readonly method: string; readonly url: string } {
    const [method = '', path = ''] = at.split(' ');
    const filled = path.replace(/\/$/, '').replace(/\/:(\w+)/g, (_, name: string) => `/${step(String(params[name]))}`);
    return { method, url: `${this.url}/api/v1${filled}${queryText(query)}` };
  }

  /** @param alsoGood an error status that is not a failure */
  async #json<T>(at: string, ask: Sent, signal?: AbortSignal, alsoGood?: number): Promise<T> {
    const { answer, text } = await this.#send(at, ask, 'application/json, application/problem+json', signal, alsoGood);
    const read = readJson(text);
    // The API's tests check every answer against its contract.
    if (text === '' || read !== undefined) return read as T;
    throw this.#failureOf(answer.status, read);
  }

  async #send(at: string, ask: Sent, accept: string, signal?: AbortSignal, alsoGood?: number) {
    const { user, limitMs = LIMITS_MS[at] ?? LIMIT_MS } = this.#options;
    const fetching = this.#options.fetch ?? fetch;
    const { method, url } = this.#addressOf(at, ask);
    const { body } = ask;
    if (this.#options.dryRun && isChange(at))
      throw new WouldChange({ method, path: url.slice(this.url.length), ...given({ body }) });
    const isArchive = body instanceof Uint8Array;
    const limit = AbortSignal.timeout(limitMs);
    let answer: Response;
    let text: string;
    try {
      answer = await fetching(url, {
        method,
        headers: {
          accept,
          ...(user === undefined ? {} : { 'x-sitewright-user': user }),
          ...this.#credentials(),
          ...(body === undefined ? {} : { 'content-type': isArchive ? 'application/gzip' : 'application/json' }),
        },
        ...(body === undefined ? {} : { body: isArchive ? Buffer.from(body) : JSON.stringify(body) }),
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
      });
      text = await answer.text();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw this.#unreachable(error, limit.aborted ? limitMs : undefined, method !== 'GET');
    }
    const read = answer.ok ? undefined : readJson(text);
    if (answer.ok || (answer.status === alsoGood && read !== undefined && !isProblem(read))) return { answer, text };
    throw this.#failureOf(answer.status, read);
  }

  #failureOf(status: number, body: unknown): CliError {
    if (isProblem(body)) {
      const { code, detail, message, title, hint, errors, run } = body;
      const problem: CliProblem = {
        code,
        // Its `message` repeats findings and hint, for Fuel’s clients.
        message: detail ?? message ?? title ?? `the API answered ${status}`,
        ...given({ hint }),
        ...(errors?.length ? { errors: errors as NonNullable<CliProblem['errors']> } : {}),
        ...given({ run }),
      };
      return new CliError(problem, exitCodeOfStatus(status));
    }
    // Whatever the status means there, our API was not reached.
    return new CliError(
      {
        code: 'not-our-api',
        message: `${this.url} answered ${status}, but not as the API of Sitewright does`,
        hint: 'Is another program listening there? Set the right address with --api or SITEWRIGHT_API.',
      },
      EXIT.unreachable,
    );
  }

  /** @param changes the request may have been taken */
  #unreachable(error: unknown, afterMs: number | undefined, changes = false): CliError {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = (cause as { code?: unknown } | null)?.code;
    const isPlain = typeof code === 'string' && code.startsWith('ERR_SSL_') && this.url.startsWith('https:');
    const why =
      afterMs !== undefined
        ? `no answer within ${afterMs / 1000} s`
        : code === 'ECONNREFUSED'
          ? 'nothing listens there'
          : isPlain
            ? 'it does not speak TLS there'
            : cause instanceof Error
              ? cause.message || String(code)
              : String(cause);
    const wasNotSent = isPlain || (typeof code === 'string' && NEVER_CONNECTED.has(code));
    const lost = changes && !wasNotSent ? '; the request may have been executed: check before you repeat it' : '';
    return new CliError(
      {
        code: 'api-unreachable',
        message: `the API at ${this.url} cannot be reached: ${why}${lost}`,
        hint: isPlain
          ? `Ask it without TLS: --api ${this.url.replace('https:', 'http:')}`
          : "Start it with 'sitewright up', or set its address with --api or SITEWRIGHT_API. 'sitewright doctor' checks everything.",
      },
      EXIT.unreachable,
    );
  }
}

/** Without a connection no request was sent. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

function step(value: string): string {
  // Else the API would be asked for the text 'undefined'.
  if (value === undefined || value === null) throw new TypeError('a part of the path of a request has no value');
  // A URL would treat these as relative segments.
  if (value === '' || value === '.' || value === '..') throw usageError(`'${value}' is not a name`);
  return encodeURIComponent(value);
}

function queryText(query: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const isProblem = (body: unknown): body is Partial<ProblemBody> & { code: string } =>
  typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string';
