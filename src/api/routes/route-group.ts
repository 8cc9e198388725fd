import type { FastifyPluginAsync, FastifyTypeProvider, RawServerDefault } from 'fastify';
import type { z } from 'zod';
import { problemSchema } from '../../core/contracts/problem.js';
import type { Wire } from '../../core/contracts/wire.js';
import type { Operations } from '../../ops/index.js';
import { PROBLEM_TYPE } from '../problems/answer-problem.js';

export interface RouteGroupOptions {
  readonly operations: Operations;
  readonly version: string;
  /** Whether callers need tokens; absent: no. */
  readonly tokensOn?: boolean;
}

/** Requests and answers have the types of their schemas as they cross the wire. */
interface WireTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodType ? Wire<this['schema']> : unknown;
  readonly serializer: this['schema'] extends z.ZodType ? Wire<this['schema']> : unknown;
}

/** Routes of one subject. A route maps a request to a use case and its result to an answer, nothing else. */
export type RouteGroup = FastifyPluginAsync<RouteGroupOptions, RawServerDefault, WireTypes>;

const MEANINGS = {
  400: 'The request is not valid; `errors` has all that is wrong with it.',
  404: 'There is no such thing.',
  409: 'It conflicts with what is there.',
  413: 'The body is too large.',
  415: 'The type of the body is not understood.',
  502: 'MAAS failed.',
  503: 'Something behind the API is away: the store, Temporal, a worker or MAAS. `code` says which, `hint` what to do.',
} as const;

/** Answers of a route when it cannot do what is asked. */
export function problems<S extends keyof typeof MEANINGS>(...statuses: readonly S[]) {
  const answer = (status: S) => ({
    description: MEANINGS[status],
    content: { [PROBLEM_TYPE]: { schema: problemSchema } },
  });
  return Object.fromEntries(statuses.map((status) => [status, answer(status)])) as unknown as Record<never, never>;
}

/** Fields without those that are not given: absent and undefined differ for use cases. */
export function given<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** A flag of a query. */
export const isTrue = (flag: 'true' | 'false' | undefined): boolean | undefined =>
  flag === undefined ? undefined : flag === 'true';
