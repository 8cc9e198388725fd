import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OpenSpan, Traces } from '../../platform/telemetry/traces.ts';

/** Makes each request a span, named by its route; a caller's own trace goes on in it (`traceparent`). */
export function traceRequests(app: FastifyInstance, traces: Traces): void {
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
