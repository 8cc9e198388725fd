import type { FastifyInstance } from 'fastify';

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
