import { z } from 'zod';
import type { Need } from '../access.ts';
import type { BudgetName } from './budget.ts';
import type { Sent, Wire } from './wire.ts';

/** An answer that is not JSON, or not only JSON. */
interface Media {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

/** The complete definition of a REST route: it is registered, guarded, described and called by it. */
export interface Route {
  /** Its `operationId`. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Required role of the caller. */
  readonly access: Need;
  /** Its share of the caller's budget. Default: a stream of events `watching`, an archive `transfer`, else `light`. */
  readonly budget?: BudgetName;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** The body is an archive. */
  readonly upload?: true;
  /** A request without a body is refused: nothing sent is not an empty graph. */
  readonly needsBody?: true;
  /** In bytes; not given: 1 MiB. */
  readonly bodyLimit?: number;
  /** JSON values of a body; not given: 50,000. */
  readonly maxValues?: number;
  /** By status; the answer of a handler has the lowest one, unless the handler sets another. */
  readonly answers: Readonly<Record<number, z.ZodType | Media>>;
  /** The events of the answer, where it is or can be a stream of events: name and data of each. */
  readonly events?: z.ZodType<{ readonly event: string; readonly data: unknown }>;
  /** Problems in addition to those that follow from path, query and body. */
  readonly also?: readonly (400 | 401 | 404 | 409 | 502)[];
  /** It needs neither store nor Temporal, and so never answers 503. */
  readonly alone?: true;
  /** Its part of the description, where it differs from that of the routes around it. */
  readonly tag?: string;
}

export const budgetOf = ({ budget, events, upload }: Route): BudgetName =>
  budget ?? (events !== undefined ? 'watching' : upload ? 'transfer' : 'light');

/** Routes by method and path below `/api/v1`, as `GET /runs/:run`: that is also how clients name them. */
export type RouteMap = Readonly<Record<string, Route>>;

/** Routes of one part of the description. */
export const tagged = <const M extends RouteMap>(tag: string, routes: M): M =>
  Object.fromEntries(Object.entries(routes).map(([at, route]) => [at, { tag, ...route }])) as unknown as M;

type Below<Prefix extends string, M> = {
  readonly [At in keyof M as At extends `${infer Method} ${infer Path}` ? `${Method} ${Prefix}${Path}` : never]: M[At];
};

/** The same routes below a path. */
export const below = <const Prefix extends string, const M extends RouteMap>(prefix: Prefix, routes: M) =>
  Object.fromEntries(
    Object.entries(routes).map(([at, route]) => [at.replace(' ', ` ${prefix}`), route]),
  ) as unknown as Below<Prefix, M>;

/** For large bodies: settings of a large cluster, a library of tasks, hundreds of nodes. */
export const LARGE_BODY = { bodyLimit: 16 * 1024 * 1024, maxValues: 200_000 } as const;

/** An answer of some type other than JSON. */
export const media = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: z.string() } },
});

export const gone = { 204: z.undefined().describe('Deleted.') };

/** A part of a request as the handler gets it. */
export type PartOf<R extends Route, Part extends 'params' | 'query' | 'body'> = R[Part] extends z.ZodType
  ? Wire<R[Part]>
  : undefined;

type AnswersOf<R extends Route> = R['answers'][keyof R['answers']];

/** The JSON answer of a route, whatever the status; `never` for one that does not. */
export type AnswerOf<R extends Route> = JsonOf<AnswersOf<R>>;

type JsonOf<Answer> = Answer extends z.ZodType
  ? Wire<Answer>
  : Answer extends { readonly content: { readonly 'application/json': { readonly schema: infer S extends z.ZodType } } }
    ? Wire<S>
    : never;

/** An event of a stream, with where to go on from. */
export type EventOf<R extends Route> = R['events'] extends z.ZodType
  ? Wire<R['events']> & { readonly id: number }
  : never;

type Text = string | number | boolean;

type Parameters<S> = S extends z.ZodType ? { readonly [Name in keyof z.input<S>]: Text } : never;
type Query<S> = S extends z.ZodType
  ? { readonly [Name in keyof z.input<S>]?: Text | readonly Text[] | undefined }
  : never;
type Body<R extends Route> = R['body'] extends z.ZodType
  ? Sent<R['body']>
  : R['upload'] extends true
    ? Uint8Array
    : never;

/** Arguments of a caller; none if none are needed. */
export type AskOf<R extends Route> = (R['params'] extends z.ZodType
  ? { readonly params: Parameters<R['params']> }
  : { readonly params?: never }) &
  (R['query'] extends z.ZodType ? { readonly query?: Query<R['query']> } : { readonly query?: never }) &
  ([Body<R>] extends [never]
    ? { readonly body?: never }
    : undefined extends Body<R>
      ? { readonly body?: Body<R> }
      : { readonly body: Body<R> });
