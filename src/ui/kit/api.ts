// The page's only way out: JSON from and to the API, its problems as errors. The token is in a cookie that no script
// can read.

import { signal } from '@preact/signals';
import type { Api } from '../../core/contracts/api.ts';
import type { AnswerOf, AskOf, EventOf } from '../../core/contracts/route.ts';
import { eventsOf } from './event-stream.ts';
import { type Problem, refusalOf } from './refusal.ts';

export type { Problem } from './refusal.ts';

/** A route of the API, such as `GET /runs/:run`. */
export type Route = keyof Api & string;
/** Files are sent as they are. */
type Ask<R extends Route> =
  AskOf<Api[R]> extends { readonly body: Uint8Array }
    ? Omit<AskOf<Api[R]>, 'body'> & { readonly body: Blob }
    : AskOf<Api[R]>;
export type Answer<R extends Route> = AnswerOf<Api[R]>;
export type Body<R extends Route> = NonNullable<Ask<R>['body']>;
/** An event of a stream, with where to go on from. */
export type StreamEvent<R extends Route> = EventOf<Api[R]>;

/** The address of a route, which knows what is answered there. */
export type Address<R extends Route = Route> = string & { readonly route: R };
/** What an address is made of: path and query. */
type Place<R extends Route> = Omit<Ask<R>, 'body'>;
type PlaceArguments<R extends Route> = Record<never, never> extends Place<R> ? [place?: Place<R>] : [place: Place<R>];
type AskArguments<R extends Route> = Record<never, never> extends Ask<R> ? [ask?: Ask<R>] : [ask: Ask<R>];

const NAME = 'sitewright.name';

/** A refusal of the API: message and hint. */
export class ApiProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** Who acts; kept in this browser, sent with every request, and from there in reports and the audit. */
const name = signal(localStorage.getItem(NAME) ?? '');
export const operator = {
  get name() {
    return name.value;
  },
  set name(value) {
    name.value = value;
    localStorage.setItem(NAME, value);
  },
};

/** Since when the API does not answer; null while it does. Every answer counts: of lists, of events, of actions. */
export const awaySince = signal<Date | null>(null);

export function noteAnswer(isThere: boolean): void {
  if (isThere) awaySince.value = null;
  else awaySince.value ??= new Date();
}

/** A request that has not been answered for a while: its path, and since when. */
export const slowRequest = signal<{ readonly path: string; readonly at: Date } | null>(null);
const SLOW_AFTER_MS = 5_000;
const slow = new Set<NonNullable<typeof slowRequest.value>>();

/** Shows the oldest request that is slow. @returns what to call when it has ended */
function watchSlow(address: string): () => void {
  const one = { path: address.split('?')[0]!, at: new Date() };
  const show = (): void => {
    slowRequest.value = [...slow][0] ?? null;
  };
  const timer = setTimeout(() => {
    slow.add(one);
    show();
  }, SLOW_AFTER_MS);
  return () => {
    clearTimeout(timer);
    if (slow.delete(one)) show();
  };
}

/** A refused sign-in; `ended`: there was one, and it is no longer valid. */
export type SignInAsked = CustomEvent<Problem & { readonly ended: boolean }>;

declare global {
  interface WindowEventMap {
    'sitewright:login': SignInAsked;
  }
}

function headers(accept: string): Headers {
  const all = new Headers({ accept });
  // Headers are bytes; the API reads these as UTF-8.
  const bytes = new TextEncoder().encode(operator.name);
  if (bytes.length > 0) all.set('x-sitewright-user', String.fromCharCode(...bytes));
  return all;
}

interface RequestOptions {
  readonly method?: string;
  /** Sent as JSON, a file as it is. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly accept?: string;
}

/** The raw response, for anything but JSON. @throws ApiProblem */
export async function request(
  address: string,
  { method = 'GET', body, signal, accept = JSON_TYPE }: RequestOptions = {},
): Promise<Response> {
  const init = { method, signal: signal ?? null, headers: headers(accept), ...bodyOf(body) };
  if (body !== undefined) init.headers.set('content-type', typeOf(body));
  let answer: Response;
  const ended = watchSlow(address);
  try {
    answer = await fetch(address, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    noteAnswer(false);
    throw new ApiProblem({
      code: 'away',
      detail: `The API does not answer.${method === 'GET' ? '' : ' It may have been executed: check before you repeat it.'}`,
      hint: 'Is it running? This page continues as soon as it is back.',
    });
  } finally {
    ended();
  }
  noteAnswer(true);
  if (answer.ok) return answer;
  const { problem, ended: isEnded } = await refusalOf(answer);
  // The cookie is no longer valid.
  if (answer.status === 401) askSignIn(problem, isEnded);
  throw new ApiProblem(problem);
}

export const askSignIn = (problem: Problem, ended: boolean): boolean =>
  dispatchEvent(new CustomEvent('sitewright:login', { detail: { ...problem, ended } }));

const JSON_TYPE = 'application/json';

/** Whatever a browser takes a user's file for, it is sent as bytes. */
const typeOf = (body: unknown): string =>
  body instanceof Blob && body.type !== JSON_TYPE ? 'application/octet-stream' : JSON_TYPE;

const bodyOf = (body: unknown): { readonly body?: BodyInit } =>
  body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) };

/** Where a route is asked. */
export const at = <R extends Route>(route: R, ...[place]: PlaceArguments<R>): Address<R> =>
  addressOf(route, (place ?? {}) as AnyPlace) as Address<R>;

interface AnyPlace {
  readonly params?: Readonly<Record<string, string | number | boolean>>;
  readonly query?: Fields;
}

function addressOf(route: string, { params = {}, query: fields = {} }: AnyPlace): string {
  const path = route.slice(route.indexOf(' ') + 1).replace(/\/$/, '');
  return `/api/v1${path.replace(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] ?? ''))}${query(fields)}`;
}

/** Reads JSON. @throws ApiProblem */
export async function get<R extends Route>(address: Address<R>, signal?: AbortSignal): Promise<Answer<R>> {
  // The API's tests check every answer against its contract.
  return (await request(address, { signal })).json();
}

/** Calls a route with JSON that a user wrote: the API reads it, and names the place of a mistake. @throws ApiProblem */
export async function sendText<R extends Route>(route: R, place: Place<R>, json: string): Promise<Answer<R>> {
  const method = route.slice(0, route.indexOf(' '));
  const body = new Blob([json], { type: JSON_TYPE });
  return (await request(addressOf(route, place as AnyPlace), { method, body })).json();
}

/** Calls a route that changes something. @throws ApiProblem */
export async function send<R extends Route>(route: R, ...[ask]: AskArguments<R>): Promise<Answer<R>> {
  const { body, ...place } = (ask ?? {}) as AnyPlace & { readonly body?: unknown };
  const method = route.slice(0, route.indexOf(' '));
  const sent = body ?? (method === 'POST' ? {} : undefined);
  const answer = await request(addressOf(route, place), { method, body: sent });
  return (answer.status === 204 ? undefined : await answer.json()) as Answer<R>;
}

type Text = string | number | boolean;
/** Fields of an address: empty ones are left out, a list is repeated. */
export type Fields = Readonly<Record<string, Text | readonly Text[] | null | undefined>>;

/** A query of the non-empty fields, with its question mark. */
export function query(fields: Fields): string {
  const all = Object.entries(fields).flatMap(([key, value]) =>
    [value ?? []].flat().flatMap((one) => (one === '' ? [] : [[key, String(one)]])),
  );
  return all.length === 0 ? '' : `?${new URLSearchParams(all)}`;
}

/** Reads server-sent events until the stream ends or `signal` does. @throws ApiProblem */
export async function readEvents<R extends Route>(
  address: Address<R>,
  on: (event: StreamEvent<R>) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of eventsOf(await request(address, { accept: 'text/event-stream', signal })))
    on(event as unknown as StreamEvent<R>);
}
