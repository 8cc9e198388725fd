import type { FastifyInstance } from 'fastify';
import { auditPageSchema, healthRoutes, maasCheckSchema, serviceRoutes } from '../../core/contracts/service.ts';
import { workerRoutes } from '../../core/contracts/worker.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { exportJsonSchemas } from '../../documents/index.ts';
import { problem } from '../../ops/index.ts';
import { actorOf } from '../requests/actor.ts';
import { given } from '../requests/given.ts';
import { type RouteGroup, serve } from '../serve.ts';
import { shown } from '../shown.ts';

const viewMaas = shown(maasCheckSchema);
const viewAudit = shown(auditPageSchema);

/** Without these no run can be started or asked. */
const NEEDED = new Set(['store', 'temporal', 'namespace']);

const HIDDEN = 'not ok; send a token to see the reason';

export const serveHealth: RouteGroup = async (app, { operations: { health }, tokensOn = false }) =>
  serve(app, healthRoutes, {
    async 'GET /health'(request, reply) {
      const { ok, checks } = await health.check();
      const unavailable = checks.some((one) => !one.ok && NEEDED.has(one.name));
      if (unavailable) void reply.code(503);
      const status = ok ? 'ok' : unavailable ? 'unavailable' : 'degraded';
      // Messages name addresses, files and users: without a token they are for no one.
      const anonymous = tokensOn && request.principal === undefined;
      const shown = anonymous ? checks.map(({ name, ok }) => ({ name, ok, message: ok ? 'ok' : HIDDEN })) : checks;
      return { status, ok, checks: shown } as const;
    },
    'GET /health/live': () => ({ status: 'ok' as const }),
  });

export const serveService: RouteGroup = async (
  app,
  { operations: { health, audit, system }, version, tokensOn = false },
) => {
  const schemas = exportJsonSchemas();
  serve(app, serviceRoutes, {
    'GET /version': () => ({
      name: 'sitewright',
      version,
      auth_required: tokensOn,
      release: version,
      api: '1.0',
      // Its clients request this only when needed, and so get the reason why it is missing.
      feature_groups: ['advanced'],
    }),
    'GET /system': () => system(),
    'GET /maas/check': async () => viewMaas(await health.maas()),
    'GET /schemas': () => ({
      items: Object.entries(schemas).map(([file, { title }]) => ({
        file,
        title: String(title ?? file),
        url: `/api/v1/schemas/${file}`,
      })),
    }),
    'GET /schemas/:file'({ params: { file } }) {
      const schema = Object.hasOwn(schemas, file) ? schemas[file] : undefined;
      if (schema) return schema;
      const hint = didYouMean(file, Object.keys(schemas)) ?? 'GET /api/v1/schemas lists them.';
      throw problem('not-found', `there is no schema '${file}'`, { hint });
    },
    async 'GET /audit'({ query }) {
      const { items, next } = await audit.list(query);
      return viewAudit({ items: items.map((one) => ({ ...one, ...partsOf(one.target) })), next });
    },
  });
};

/** An id may have slashes of its own. */
function partsOf(target: string): { readonly targetKind: string; readonly targetId: string } {
  const end = target.indexOf('/');
  return { targetKind: target.slice(0, end), targetId: target.slice(end + 1) };
}

export const serveWorkers: RouteGroup = async (app, { operations: { workerVersions } }) =>
  serve(app, workerRoutes, {
    'GET /workers/versions': async () => ({ items: await workerVersions.list() }),
    'GET /workers/versions/:version': ({ params }) => workerVersions.get(params.version),
    'POST /workers/versions/:version/drain': (request) =>
      workerVersions.drain(request.params.version, given({ ...request.body, by: actorOf(request, request.body.by) })),
  });

/** The metrics of the API for a collector, its requests included. */
export interface ApiMetricsPort {
  readonly contentType: string;
  text(): Promise<string>;
  /** @param route path as registered; undefined for a request that no route takes */
  request(method: string, route: string | undefined, status: number, ms: number): void;
}

/** `GET /metrics`, where collectors look for it, and a note of each request. */
export function serveMetrics(app: FastifyInstance, metrics: ApiMetricsPort): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.is404 ? undefined : request.routeOptions.url;
    metrics.request(request.method, route, reply.statusCode, reply.elapsedTime);
  });
  app.get('/metrics', { schema: { hide: true }, config: { access: 'viewer' } }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.text()),
  );
}
