import { randomUUID } from 'node:crypto';
import { type ApiKey, MaasConfigurationError, parseApiKey } from './api-key.ts';
import { classifyAnswer, clockFailure, isClockWrong, isOfMaas, isUnrecognised } from './classify-answer.ts';
import { type Clock, systemClock } from './clock.ts';
import { MaasError, type MaasFailure } from './failure.ts';
import { Gate } from './gate.ts';
import { isObject, type JsonObject } from './lenient.ts';
import { oauthHeader } from './oauth-header.ts';
import { type HttpAnswer, type HttpRequest, type Transport, TransportError, undiciTransport } from './transport.ts';

/** How to reach one MAAS. */
export interface MaasConnectionConfig {
  /** As written by the user; see `maasApiRoot`. */
  readonly url: string;
  /** `consumer:token:secret`. */
  readonly apiKey: string;
  /**
   * Reads the key again, which someone may have renewed. Called before each request, so that it must be quick; if it is
   * `undefined` or no key, the last good one stays in use.
   */
  readonly rereadKey?: () => string | undefined;
  /**
   * How long a refused key that was accepted before may be renewed or accepted again, before a request fails; default 60 s. Someone who
   * replaces a key deletes the old one first, and MAAS 3.8 refuses the keys of users who are inactive at their provider of identities.
   */
  readonly keyPatienceMs?: number;
  /** Timeout of a read; default 60 s. */
  readonly readTimeoutMs?: number;
  /**
   * Timeout of a change; default 150 s. Not below 120 s in production: MAAS retries its
   * transactions for up to 90 s before it answers.
   */
  readonly changeTimeoutMs?: number;
  /** Limit of concurrent reads, and separately of concurrent changes; default 6. */
  readonly concurrency?: number;
  readonly transport?: Transport;
  readonly clock?: Clock;
  /**
   * Until when a change may leave (ms since 1970) that is about to be sent: it is then refused as `unreachable`, and not sent. Undefined: no
   * limit. MAAS knows no fences, so what has allowed a change must be young when the change leaves.
   */
  readonly sendChangesBy?: () => number | undefined;
  /** Receives each attempt, without headers and bodies. */
  readonly onAttempt?: (attempt: RequestRecord) => void;
}

/** For logs and metrics. */
export interface RequestRecord {
  /** As in `MaasFailure.request`. */
  readonly request: string;
  readonly ms: number;
  /** HTTP status, or the error code when there was no answer. */
  readonly outcome: number | string;
  /** Whether this is a repeated read. */
  readonly again: boolean;
}

/** Form values: a list repeats the key; `true` is sent as `true`; `false` and absent values are not sent. */
export type FormFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

interface CallOptions {
  readonly query?: FormFields;
  readonly form?: FormFields;
  readonly signal?: AbortSignal | undefined;
  /** Waits behind no other request: one that aborts work in MAAS, or that many wait for. */
  readonly urgent?: boolean | undefined;
  /** Sends no key: for requests whose result must not depend on the key. */
  readonly unsigned?: boolean;
  /** Reports a refused key at once: for questions about the key itself. */
  readonly isKeyFinal?: boolean;
  /** It changes nothing, whatever its method: it may be sent without the permission of changes. */
  readonly changesNothing?: boolean;
  /** Secret values of the form, to remove from answers that repeat them. */
  readonly secrets?: readonly string[];
}

/** Expected form of an answer; `nothing`: it may be empty. */
type Expected = 'nothing' | 'any' | 'list' | 'object';

/** Signed calls to one MAAS. Callers deal with machines and tags, not with HTTP. */
export class MaasConnection {
  /** Ends in `/api/2.0/`. */
  readonly root: string;
  readonly #rereadKey: () => string | undefined;
  #keyText: string;
  #key: ApiKey;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #readTimeoutMs: number;
  readonly #changeTimeoutMs: number;
  readonly #keyPatienceMs: number;
  readonly #reads: Gate;
  readonly #changes: Gate;
  readonly #sendChangesBy: () => number | undefined;
  readonly #onAttempt: ((attempt: RequestRecord) => void) | undefined;
  /** Whether MAAS has taken a key from us: one that it never took is wrong. */
  #wasAccepted = false;
  #underWay = 0;
  #lastEnd = Number.NEGATIVE_INFINITY;
  #silentSince: number | undefined;
  #lastAnswerAt: number | undefined;
  /** The last change that was given up on its way, by the signal that did so. */
  readonly #givenUp = new WeakMap<AbortSignal, string>();

  /** @throws MaasConfigurationError when URL or key cannot work. */
  constructor(config: MaasConnectionConfig) {
    this.root = maasApiRoot(config.url);
    this.#key = parseApiKey(config.apiKey);
    this.#keyText = config.apiKey;
    this.#rereadKey = config.rereadKey ?? (() => undefined);
    const concurrency = config.concurrency ?? 6;
    this.#reads = new Gate(concurrency);
    this.#changes = new Gate(concurrency);
    this.#transport = config.transport ?? undiciTransport({ connections: 2 * concurrency });
    this.#clock = config.clock ?? systemClock;
    this.#readTimeoutMs = config.readTimeoutMs ?? 60_000;
    this.#changeTimeoutMs = config.changeTimeoutMs ?? 150_000;
    this.#keyPatienceMs = config.keyPatienceMs ?? 60_000;
    this.#sendChangesBy = config.sendChangesBy ?? (() => undefined);
    this.#onAttempt = config.onAttempt;
  }

  /**
   * Since when MAAS has sent no answer to any request, ms since 1970. Requests that wait, time out, find no connection or are answered by
   * something in front of MAAS count; any answer of MAAS resets it.
   */
  get silentSince(): number | undefined {
    return this.#silentSince;
  }

  /** When MAAS last answered anything, ms since 1970. */
  get lastAnswerAt(): number | undefined {
    return this.#lastAnswerAt;
  }

  /** The change that was on its way when this signal was aborted: MAAS may still do it. */
  givenUp(signal: AbortSignal): string | undefined {
    return this.#givenUp.get(signal);
  }

  /** The key to use now: the same object until it is renewed. */
  get key(): ApiKey {
    const text = this.#rereadKey();
    if (text === undefined || text === this.#keyText) return this.#key;
    try {
      this.#key = parseApiKey(text);
      this.#keyText = text;
    } catch (error) {
      if (!(error instanceof MaasConfigurationError)) throw error;
    }
    return this.#key;
  }

  /** A read; retried once, with a new header, when its answer was lost or garbled or its nonce was used. */
  get(path: string, options: CallOptions = {}): Promise<unknown> {
    return this.#read(path, options, 'any');
  }

  /** As `get`; an answer that is not a list is garbled. */
  async list(path: string, options: CallOptions = {}): Promise<readonly unknown[]> {
    return (await this.#read(path, options, 'list')) as readonly unknown[];
  }

  /** As `get`; an answer that is not an object is garbled. */
  async object(path: string, options: CallOptions = {}): Promise<JsonObject> {
    return (await this.#read(path, options, 'object')) as JsonObject;
  }

  async #read(path: string, options: CallOptions, expected: Expected): Promise<unknown> {
    try {
      return await this.#call('GET', path, options, expected);
    } catch (error) {
      if (!(error instanceof MaasError)) throw error;
      const { failure } = error;
      const isWorthAnother =
        failure.kind === 'connection-lost' ||
        (failure.kind === 'unexpected' && failure.retryable) ||
        (failure.kind === 'unauthorised' && failure.reason === 'nonce-replayed');
      if (!isWorthAnother) throw error;
      return this.#call('GET', path, options, expected, true);
    }
  }

  /** A change; sent exactly once. */
  post(path: string, options: CallOptions = {}): Promise<unknown> {
    return this.#call('POST', path, options);
  }

  put(path: string, options: CallOptions = {}): Promise<unknown> {
    return this.#call('PUT', path, options);
  }

  delete(path: string, options: CallOptions = {}): Promise<unknown> {
    return this.#call('DELETE', path, options);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #call(
    method: HttpRequest['method'],
    path: string,
    options: CallOptions,
    expected: Expected = 'nothing',
    again = false,
  ): Promise<unknown> {
    const query = encodeFields(options.query ?? {});
    const target = query === '' ? path : `${path}?${query}`;
    const changes = method !== 'GET';
    // Long lists of ids are cut: the line is for people.
    const request = `${method} ${target.length > 200 ? `${target.slice(0, 200)}…` : target}`;
    const gate = changes ? this.#changes : this.#reads;
    const send = (key: ApiKey) => gate.pass(() => this.#attempt(key, method, target, request, options, again), options);
    let key = this.key;
    let answer = await send(key);
    const since = this.#clock.now();
    let keyRefusedMs: number | undefined;
    // Refused, and so not done: it is sent again with a key that was renewed meanwhile.
    while (!options.unsigned && (await this.#refusesKey(answer, key, options))) {
      const refusedMs = this.#clock.now() - since;
      if (this.key === key) {
        const isPatient = options.isKeyFinal !== true && this.#wasAccepted;
        if (isPatient) keyRefusedMs = refusedMs;
        if (!isPatient || refusedMs >= this.#keyPatienceMs) break;
        await this.#clock.sleep(KEY_LOOK_MS, options.signal);
      }
      key = this.key;
      answer = await send(key);
      keyRefusedMs = undefined;
    }
    const exchange = {
      request,
      changes,
      answer,
      now: this.#clock.now(),
      keyRefusedMs,
      secrets: [key.tokenSecret, key.tokenKey, key.consumerKey, ...(options.secrets ?? [])],
    };
    if (answer.status < 200 || answer.status > 299) throw new MaasError(classifyAnswer(exchange));
    // Of a read alone: a change has been made, and the next read finds out.
    const clock = changes ? undefined : clockFailure(exchange);
    if (clock !== undefined) throw new MaasError(clock);
    const garbled = (how: string): MaasError =>
      new MaasError({
        kind: 'unexpected',
        request,
        status: answer.status,
        text: `the answer ${how}`,
        outcomeUnknown: changes,
        // A proxy or a starting region may answer like this for a while.
        retryable: true,
        hint: 'if this persists, the URL does not point to the API of MAAS',
      });
    if (answer.body.trim() === '') {
      if (expected === 'nothing') return undefined;
      throw garbled('is empty');
    }
    let value: unknown;
    try {
      value = JSON.parse(answer.body);
    } catch {
      throw garbled('is not JSON, or was cut off');
    }
    if (expected === 'list' && !Array.isArray(value)) throw garbled('is not a list');
    if (expected === 'object' && !isObject(value)) throw garbled('is not an object');
    return value;
  }

  /**
   * Whether an answer refuses the key, and not the time or the nonce of the request. MAAS takes a request whose key is not valid now for one
   * without a key: endpoints that have something for anybody answer 400 then, as if they did not know the operation.
   */
  async #refusesKey(answer: HttpAnswer, key: ApiKey, options: CallOptions): Promise<boolean> {
    if (answer.status === 401) {
      const isOfClock = isClockWrong({ answer, now: this.#clock.now() });
      return !isOfClock && !/expired timestamp|nonce already used/i.test(answer.body);
    }
    if (answer.status !== 400 || !isUnrecognised(answer)) {
      this.#wasAccepted ||= answer.status < 400;
      return false;
    }
    const whoami = 'users/?op=whoami';
    const { signal } = options;
    const own = await this.#attempt(key, 'GET', whoami, `GET ${whoami}`, { signal, urgent: true }, false);
    return own.status === 401 || isUnrecognised(own);
  }

  async #attempt(
    key: ApiKey,
    method: HttpRequest['method'],
    target: string,
    request: string,
    options: CallOptions,
    again: boolean,
  ): Promise<HttpAnswer> {
    const changes = method !== 'GET';
    const hasBody = method === 'POST' || method === 'PUT';
    const started = this.#clock.now();
    const timeoutMs = changes ? this.#changeTimeoutMs : this.#readTimeoutMs;
    const sendBy = changes && options.changesNothing !== true ? this.#sendChangesBy() : undefined;
    this.#begin(started);
    const authorization = oauthHeader(key, randomUUID().replaceAll('-', ''), Math.floor(started / 1000));
    try {
      const answer = await this.#transport.send({
        method,
        url: `${this.root}${target}`,
        headers: {
          accept: 'application/json',
          ...(options.unsigned ? {} : { authorization }),
          ...(hasBody ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        },
        // Even when empty: MAAS requires `Content-Length: 0`.
        ...(hasBody ? { body: encodeFields(options.form ?? {}) } : {}),
        timeoutMs,
        ...(sendBy === undefined ? {} : { sendBy }),
        ...(options.signal ? { signal: options.signal } : {}),
      });
      if (isOfMaas(answer)) this.#answered();
      this.#onAttempt?.({ request, ms: this.#clock.now() - started, outcome: answer.status, again });
      return answer;
    } catch (error) {
      if (!(error instanceof TransportError)) {
        if (changes && options.signal?.aborted) this.#givenUp.set(options.signal, request);
        throw error;
      }
      this.#onAttempt?.({ request, ms: this.#clock.now() - started, outcome: error.code, again });
      throw new MaasError(noAnswer(error, request, changes, timeoutMs));
    } finally {
      this.#underWay--;
      this.#lastEnd = this.#clock.now();
    }
  }

  #begin(now: number): void {
    // After a time without requests, an old silence does not describe the current state of MAAS.
    if (this.#underWay === 0 && now - this.#lastEnd > silenceForgottenAfterMs) this.#silentSince = undefined;
    this.#silentSince ??= now;
    this.#underWay++;
  }

  #answered(): void {
    // For other waiting requests, the silence starts now.
    this.#lastAnswerAt = this.#clock.now();
    this.#silentSince = this.#underWay > 1 ? this.#lastAnswerAt : undefined;
  }
}

/** Longer than any pause between two attempts of a caller that waits for MAAS. */
const silenceForgottenAfterMs = 120_000;

/** How often the key is read again while it is refused. */
const KEY_LOOK_MS = 2_000;

/** The failure of an attempt that got no answer. */
function noAnswer(error: TransportError, request: string, changes: boolean, limitMs: number): MaasFailure {
  const { code } = error;
  switch (error.kind) {
    case 'unreachable':
      return {
        kind: 'unreachable',
        code,
        request,
        text: `no connection (${code})`,
        outcomeUnknown: false,
        retryable: true,
        hint: 'check the MAAS URL, and that the region can be reached from here',
      };
    case 'late':
      return {
        kind: 'unreachable',
        code,
        request,
        text: 'it was not sent: its sender was held up for too long after it was allowed',
        outcomeUnknown: false,
        retryable: true,
      };
    case 'tls':
      return {
        kind: 'unreachable',
        code,
        request,
        text: `no secure connection (${code})`,
        outcomeUnknown: false,
        retryable: false,
        hint: 'the certificate is not trusted here (set NODE_EXTRA_CA_CERTS to a file with its authority), or the port does not speak TLS',
      };
    case 'timeout':
      return {
        kind: 'timeout',
        limitMs,
        request,
        text: `no answer within ${limitMs} ms`,
        outcomeUnknown: changes,
        retryable: true,
      };
    case 'lost':
      return {
        kind: 'connection-lost',
        code,
        request,
        text: `the connection broke before the answer arrived (${code})`,
        outcomeUnknown: changes,
        retryable: true,
      };
    case 'too-large':
      return {
        kind: 'unexpected',
        request,
        text: 'the answer is larger than any answer of MAAS',
        outcomeUnknown: changes,
        retryable: false,
      };
  }
}

/** `application/x-www-form-urlencoded`, see `FormFields`. */
function encodeFields(fields: FormFields): string {
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    // MAAS reads almost any text as true, and options are off by default: do not send false.
    if (value === undefined || value === false) continue;
    if (typeof value === 'object') for (const item of value) encoded.append(name, item);
    else encoded.append(name, String(value));
  }
  return encoded.toString();
}

/**
 * One segment of a path. Refuses text that would change the path's meaning.
 * @throws RangeError for the empty text, `.` and `..`.
 */
export function segment(text: string | number): string {
  const value = String(text);
  if (value === '' || value === '.' || value === '..')
    throw new RangeError(`"${value}" cannot be a segment of a MAAS path`);
  return encodeURIComponent(value);
}

/**
 * The API root for a user's MAAS URL: with or without the last slash, `/MAAS` or
 * `/api/2.0`. Always ends in `/api/2.0/`, since MAAS answers 404 to a path without its slash.
 * @throws MaasConfigurationError when it is not an http(s) URL, or contains credentials.
 */
export function maasApiRoot(text: string): string {
  const problem = (why: string) =>
    new MaasConfigurationError([`The MAAS URL ${why}. It should look like http://maas.example:5240/MAAS.`]);
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw problem('cannot be read as a URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw problem('must start with http:// or https://');
  if (url.username !== '' || url.password !== '') throw problem('must not contain a user name or password');
  if (url.search !== '' || url.hash !== '') throw problem('must not have a query or a fragment');
  const path = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .join('/')
    .replace(/(^|\/)api(\/[0-9.]+)?$/, '');
  // A proxy may publish MAAS under another path, so a given path is kept; none means /MAAS.
  return `${url.origin}/${path === '' ? 'MAAS' : path}/api/2.0/`;
}
