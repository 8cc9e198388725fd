import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { z } from 'zod';
import type { Need } from '../core/access.ts';
import { BUDGETS, type Budget, type BudgetName } from '../core/contracts/budget.ts';
import { problemSchema } from '../core/contracts/problem.ts';
import { type AnswerOf, budgetOf, type PartOf, type Route, type RouteMap } from '../core/contracts/route.ts';
import { given } from '../core/data/given.ts';
import type { Operations } from '../ops/index.ts';
import type { SignInCodes } from './access/sign-in-codes.ts';
import type { ApiSignIn } from './access/sign-in-routes.ts';
import type { ArchiveIntake } from './fuel/packages/archive-slots.ts';
import { PROBLEM_TYPE } from './problems/answer-problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required role of a route's caller. Default: `admin`. */
    access?: Need;
    /** Its share of the caller's budget. Default: `light`. */
    budget?: BudgetName;
    needsBody?: boolean;
    /** Of its answer, unless the handler sets another. */
    status?: number;
    /** JSON values of a body. */
    maxValues?: number;
  }
}

interface RouteGroupOptions {
  readonly operations: Operations;
  readonly version: string;
  /** Whether callers need tokens; absent: no. */
  readonly tokensOn?: boolean;
  /** Limits of archives; absent: the defaults of the settings. */
  readonly archives?: ArchiveIntake;
  /** Sign-in through an OpenID provider; absent: there is none. */
  readonly openId?: ApiSignIn & { readonly codes: SignInCodes };
}

/** Routes of one subject. A route maps a request to a use case and its result to an answer, nothing else. */
export type RouteGroup = FastifyPluginAsync<RouteGroupOptions>;

/** A request whose parts have been checked. */
export type Asked<R extends Route> = FastifyRequest<{
  Params: PartOf<R, 'params'>;
  Querystring: PartOf<R, 'query'>;
  Body: PartOf<R, 'body'>;
}>;

/**
 * The handler of a route: it returns the answer of its contract, or has answered already, with text or a stream. The
 * status is the lowest one of the contract, unless the handler sets it.
 */
type Handler<R extends Route> = (
  request: Asked<R>,
  reply: FastifyReply,
) => Promised<AnswerOf<R> | FastifyReply | (undefined extends AnswerOf<R> ? void : never)>;
type Promised<T> = T | Promise<T>;

export type Handlers<M extends RouteMap> = { readonly [At in keyof M]: Handler<M[At]> };

const MEANINGS = {
  400: 'Invalid request; `errors` lists all problems.',
  401: 'The signature is missing or wrong.',
  404: 'Not found.',
  409: 'It conflicts with the current state.',
  413: 'The body is too large.',
  415: 'Unsupported media type.',
  502: 'MAAS failed.',
  503: 'A dependency of the API is unavailable: the store, Temporal, a worker or MAAS. `code` names it; `hint` is the next step.',
} as const;

/** Registers routes by their contracts. `prefix` is a path that they are below. */
export function serve<M extends RouteMap>(app: FastifyInstance, routes: M, handlers: Handlers<M>, prefix = ''): void {
  // Paths outside the API: its own without the prefix, described once already, and those of other services.
  const hide = !app.prefix.startsWith('/api/');
  for (const [at, route] of Object.entries(routes)) {
    const [method = '', path = ''] = at.split(' ');
    const { id, summary, description, tag, params, query, body, answers, bodyLimit, maxValues, access, needsBody } =
      route;
    const budget = budgetOf(route);
    const { seconds }: Budget = BUDGETS[budget];
    const status = Math.min(...Object.keys(answers).map(Number));
    app.route({
      method,
      url: `${prefix}${path}`,
      ...given({ bodyLimit }),
      ...(seconds === undefined ? {} : { handlerTimeout: seconds * 1000 }),
      config: {
        access,
        budget,
        status,
        ...(needsBody ? { needsBody } : {}),
        ...given({ maxValues }),
      },
      schema: {
        hide,
        operationId: id,
        summary,
        ...given({ description }),
        ...(tag === undefined ? {} : { tags: [tag] }),
        ...given({ params, querystring: query, body }),
        response: { ...answersOf(route), ...problemsOf(path, route) },
      },
      // Requests have been checked against the route's schemas.
      handler: handlers[at] as unknown as RouteHandlerMethod,
    });
  }
}

/** Answers of a route. Of a stream of events, the schema is that of one event. */
function answersOf({ answers, events }: Route): Route['answers'] {
  if (events === undefined) return answers;
  const streamed = Object.entries(answers).map(([status, answer]) => {
    if (answer instanceof z.ZodType) return [status, answer];
    return [status, { ...answer, content: { ...answer.content, 'text/event-stream': { schema: events } } }];
  });
  return Object.fromEntries(streamed);
}

/** Answers of a route when it refuses a request. */
function problemsOf(path: string, { params, query, body, upload, also = [], alone }: Route) {
  const takesBody = body !== undefined || upload === true;
  const statuses = [
    ...(params !== undefined || query !== undefined || takesBody ? [400 as const] : []),
    ...(path.includes(':') || params !== undefined ? [404 as const] : []),
    ...(takesBody ? [413 as const, 415 as const] : []),
    ...also,
    ...(alone ? [] : [503 as const]),
  ];
  const content = { [PROBLEM_TYPE]: { schema: problemSchema } };
  return Object.fromEntries(statuses.map((status) => [status, { description: MEANINGS[status], content }]));
}
