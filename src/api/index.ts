import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pipeline, Readable, Transform } from 'node:stream';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { given } from '../core/data/given.ts';
import type { Operations } from '../ops/index.ts';
import type { Logger } from '../platform/telemetry/log.ts';
import type { OpenSpan, Traces } from '../platform/telemetry/traces.ts';
import { holdToBudgets } from './access/budgets.ts';
import { guardRoutes } from './access/guard.ts';
import { answerOwnPagesOnly } from './access/own-pages.ts';
import { limitRates } from './access/rate-limit.ts';
import { slowDownRefused } from './access/refusals.ts';
import { SignInCodes } from './access/sign-in-codes.ts';
import { type ApiSignIn, CALLBACK_PATH, serveSignIn } from './access/sign-in-routes.ts';
import { takeTurns } from './access/turns.ts';
import { serveFuelGraphs } from './fuel/graphs/index.ts';
import { serveClusters, serveVersions } from './fuel/inventory/clusters.ts';
import { serveInventoryNodes } from './fuel/inventory/nodes.ts';
import { servePlugins, serveReleases, serveRoles } from './fuel/inventory/releases.ts';
import { serveFacts, serveSettings } from './fuel/inventory/settings.ts';
import { type ArchiveIntake, DEFAULT_ARCHIVE_INTAKE } from './fuel/packages/archive-slots.ts';
import { servePackages } from './fuel/packages/packages.ts';
import { serveExtensions, serveTags } from './fuel/tags/tags.ts';
import { serverOptions, treatAlike } from './http2.ts';
import { describeRoutes } from './openapi.ts';
import { documentRoutes } from './page/document-routes.ts';
import { pageRoutes, showPage } from './page/page-routes.ts';
import { serveWatches } from './page/watch-routes.ts';
import { answerProblem, shortAddress } from './problems/answer-problem.ts';
import { answerBrokenRequests, answerExpectation } from './problems/broken-request.ts';
import { checkRequestsOf, refuseControlCharacters } from './requests/check-request.ts';
import { namesToIds } from './requests/names-to-ids.ts';
import { readJsonBodies } from './requests/read-bodies.ts';
import { answerUnknownRoutes } from './requests/unknown-route.ts';
import { serveKeystone } from './routes/keystone.ts';
import { serveSiteNodes } from './routes/nodes.ts';
import { serveNotices } from './routes/notices.ts';
import { serveRehearsals } from './routes/rehearsals.ts';
import { serveRevisions } from './routes/revisions.ts';
import { serveRuns } from './routes/runs.ts';
import { serveSchedules } from './routes/schedules.ts';
import { type ApiMetricsPort, serveHealth, serveMetrics, serveService, serveWorkers } from './routes/service.ts';
import { serveSites, serveWebhooks } from './routes/sites.ts';
import { serveTokens } from './routes/tokens.ts';
import type { RouteGroup } from './serve.ts';

export interface ApiOptions {
  readonly log: Logger;
  /** Of this program, as `/api/v1/version` reports it. */
  readonly version: string;
  /** Whether callers need tokens. Default: no. */
  readonly tokens?: boolean;
  /** Sign-in through an OpenID provider, in addition to tokens; absent: none. */
  readonly openId?: ApiSignIn;
  /** Requests that a token, or an address without one, may make within a minute. Default: 0, no limit. */
  readonly ratePerMinute?: number;
  /** Limits of archives; absent: the defaults of the settings. */
  readonly archives?: ArchiveIntake;
  /** Served at `/metrics`; absent: nothing is there. */
  readonly metrics?: ApiMetricsPort;
  /** Takes a span of each request; absent: none is made. */
  readonly traces?: Traces;
  /** PEM: the API is served over TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Tests: sees every answer before it is sent; its errors are errors of the API. */
  readonly checkAnswer?: (answer: AnswerSeen) => void;
}

/** An answer that is text, on its way out; of a stream of events, one event. */
export interface AnswerSeen {
  readonly method: string;
  /** As it is registered: `/api/v1/runs/:run`. */
  readonly route: string;
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** The description of the API. */
  readonly describe: () => object;
}

export type Api = FastifyInstance;

export type { ArchiveIntake };

/** For a request to arrive in. */
const REQUEST_MS = 60_000;

/** Any body but documents. */
const BODY_LIMIT = 1024 * 1024;

/** The REST API over the use cases, ready to listen or to be asked with `inject`. It closes nothing it was given. */
export async function createApi(operations: Operations, options: ApiOptions): Promise<Api> {
  const { log, version, checkAnswer, tokens: tokensOn = false, ratePerMinute = 0, tls, metrics, traces } = options;
  const app = Fastify({
    ...serverOptions(tls),
    loggerInstance: log as FastifyBaseLogger,
    // One line for each request, with our fields: below.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request' }),
    genReqId: requestId,
    bodyLimit: BODY_LIMIT,
    // Slow senders do not hold a connection for ever; our own answers may take as long as they need.
    requestTimeout: REQUEST_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    // Our own check reports problems of a name, so the router must let long ones pass; clients of the Fuel line end
    // paths with a slash, or do not.
    routerOptions: { maxParamLength: 4_000, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => void answerProblem(error, request, reply),
    clientErrorHandler: answerBrokenRequests,
  }).withTypeProvider<ZodTypeProvider>();

  // Node.js answers it with no body at all.
  app.server.on('checkExpectation', answerExpectation);
  app.setValidatorCompiler(() => () => true);
  // The compiler has checked their types already.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler(answerProblem);
  // Before all other hooks.
  if (tls !== undefined) treatAlike(app as unknown as Api, REQUEST_MS);
  app.addHook('onRoute', checkRequestsOf);
  app.addHook('onRoute', namesToIds(operations.names));
  app.addHook('onRequest', refuseControlCharacters);
  startAnswers(app as unknown as Api);
  logAnswers(app as unknown as Api);
  if (checkAnswer !== undefined) showAnswers(app as unknown as Api, checkAnswer);
  if (traces !== undefined) traceRequests(app as unknown as Api, traces);
  if (!tokensOn) answerOwnPagesOnly(app as unknown as Api);
  const secure = tls !== undefined || options.openId?.pageUrl.startsWith('https:') === true;
  const limits = await limitRates(app as unknown as Api, ratePerMinute);
  guardRoutes(app, tokensOn ? operations.tokens : undefined, limits, secure);
  holdToBudgets(app as unknown as Api);
  takeTurns(app as unknown as Api);
  slowDownRefused(app as unknown as Api);
  if (metrics !== undefined) serveMetrics(app as unknown as Api, metrics);
  readJsonBodies(app);
  answerUnknownRoutes(app, showPage);
  await describeRoutes(app, version, tokensOn);
  const openId = options.openId === undefined ? undefined : { ...options.openId, codes: new SignInCodes() };
  const archives = options.archives ?? DEFAULT_ARCHIVE_INTAKE;
  const shared = { operations, version, tokensOn, archives, ...given({ openId }) };
  for (const routes of ROUTES) await app.register(routes, { prefix: '/api/v1', ...shared });
  // Where load balancers and containers look for it.
  await app.register(serveHealth, shared);
  // Where Fuel's clients look for it.
  await app.register(serveKeystone, { prefix: '/keystone', ...shared });
  await app.register(openToAnyone, shared);
  await app.ready();
  return app as unknown as Api;
}

/** The status of the route, and headers: nothing of an answer is for a frame, a picture or a script of another page. */
function startAnswers(app: Api): void {
  app.addHook('onRequest', async (request, reply) => {
    const { status } = request.routeOptions.config;
    if (status !== undefined) void reply.code(status);
    void reply
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
      .header('x-frame-options', 'DENY')
      .header('cross-origin-resource-policy', 'same-origin');
  });
}

/** One line for each request, with our fields. */
function logAnswers(app: Api): void {
  app.addHook('onResponse', async (request, reply) => {
    const level = request.method === 'GET' || request.method === 'HEAD' ? 'debug' : 'info';
    const { statusCode: status, elapsedTime } = reply;
    // The provider's answer is in the query.
    const url = request.routeOptions.url === CALLBACK_PATH ? CALLBACK_PATH : shortAddress(request.url);
    const fields = { method: request.method, url, status, ms: Math.round(elapsedTime) };
    request.log[level]({ ...fields, ...subjectOf(request) }, 'answered');
  });
}

function showAnswers(app: Api, checkAnswer: NonNullable<ApiOptions['checkAnswer']>): void {
  app.addHook('onSend', async (request, reply, body) => {
    const { method, routeOptions } = request;
    const type = String(reply.getHeader('content-type') ?? '');
    const about = { method, route: routeOptions.url ?? '', status: reply.statusCode, type };
    const check = (text: string) => checkAnswer({ ...about, body: text, describe: () => app.swagger() });
    if (body instanceof Readable && type.startsWith(EVENT_STREAM)) return pipeline(body, eachEvent(check), () => {});
    if (body instanceof Readable && type.startsWith(JSON_TYPE)) return pipeline(body, allOf(check), () => {});
    if (!request.is404 && (body === undefined || body === null || typeof body === 'string')) check(body ?? '');
  });
}

/** Actor and target of a request, from its token and path. */
function subjectOf({ principal, params }: FastifyRequest): Record<string, string> {
  const { site, run, task, node } = (params ?? {}) as Record<string, string | undefined>;
  const known = { actor: principal?.name, site, run, task, node };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as Record<string, string>;
}

/** The files of the web page contain no private data; it requests its data like any other client. */
const openToAnyone: RouteGroup = async (app, { openId, operations }) => {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'anyone' };
  });
  await app.register(pageRoutes);
  await app.register(documentRoutes);
  if (openId !== undefined) serveSignIn(app, openId, operations.tokens, openId.codes);
};

/** A caller's own id goes through all logs; anything odd is replaced. */
function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}

const EVENT_STREAM = 'text/event-stream';
const JSON_TYPE = 'application/json';

/** Lets a stream of events through, and passes each complete event to `check`. */
function eachEvent(check: (event: string) => void): Transform {
  let rest = '';
  return seen((chunk) => {
    const blocks = `${rest}${String(chunk)}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) check(block);
  });
}

/** Lets a text in pieces through, and passes the whole to `check`. */
function allOf(check: (text: string) => void): Transform {
  const chunks: Buffer[] = [];
  return seen(
    (chunk) => chunks.push(chunk),
    () => check(Buffer.concat(chunks).toString()),
  );
}

function seen(look: (chunk: Buffer) => unknown, atEnd: () => void = () => {}): Transform {
  const orFailure = (work: () => unknown): Error | null => {
    try {
      work();
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  return new Transform({
    transform: (chunk, _encoding, done) =>
      done(
        orFailure(() => look(chunk)),
        chunk,
      ),
    flush: (done) => done(orFailure(atEnd)),
  });
}

/** The inventory of graphs, in the formats of Fuel's clients: releases, clusters, nodes, roles, settings, plugins. */
const serveInventory: readonly RouteGroup[] = [
  serveReleases,
  serveClusters,
  serveSettings,
  serveVersions,
  serveFacts,
  serveInventoryNodes,
  serveRoles,
  servePlugins,
];

/** All routes below `/api/v1`. */
const ROUTES: readonly RouteGroup[] = [
  serveSites,
  serveWebhooks,
  serveRehearsals,
  serveRevisions,
  serveSiteNodes,
  serveRuns,
  serveNotices,
  serveSchedules,
  serveHealth,
  serveService,
  serveWorkers,
  serveTokens,
  ...serveInventory,
  servePackages,
  serveTags,
  serveExtensions,
  serveFuelGraphs,
  serveWatches,
];

/** Makes each request a span, named by its route; a caller's own trace goes on in it (`traceparent`). */
function traceRequests(app: FastifyInstance, traces: Traces): void {
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers;
    const span = traces.begin(request.method, 'server', typeof traceparent === 'string' ? traceparent : undefined);
    spans.set(request, span);
    traces.inside(span, done);
  });
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request);
    if (span === undefined) return;
    const route = request.is404 ? undefined : request.routeOptions.url;
    const { statusCode: status } = reply;
    const attributes = {
      'http.request.method': request.method,
      'http.route': route,
      'http.response.status_code': status,
      'sitewright.request': request.id,
      'sitewright.actor': request.principal?.name,
    };
    const name = route === undefined ? request.method : `${request.method} ${route}`;
    traces.end(span, attributes, { name, ...(status >= 500 ? { error: `status ${status}` } : {}) });
  });
}
