import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from '../problems/answer-problem.js';
import { type Asset, contentSecurityPolicy, loadAssets } from './assets.js';

/** Addresses of the page's views: one document, whose router reads the path. */
const VIEWS = ['', 'sites', 'runs', 'schedules', 'nodes', 'clusters', 'graphs', 'packages', 'tags', 'audit'];

const assets = loadAssets();
const page = assets.get('index.html')!;
const policy = contentSecurityPolicy(page.body.toString('utf8'));

/** Answers with the page's document, whose router reads the path. */
export function showPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  void reply
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    .header('x-frame-options', 'DENY');
  return send(request, reply, page);
}

/** The web page: its document at `/` and below each view's path, its files below `/assets`. No part of the API. */
export async function pageRoutes(app: FastifyInstance): Promise<void> {
  const schema = { hide: true };
  for (const view of VIEWS) {
    app.get(`/${view}`, { schema }, showPage);
    if (view !== '') app.get(`/${view}/*`, { schema }, showPage);
  }

  app.get('/assets/*', { schema }, (request, reply) => {
    const path = (request.params as { '*': string })['*'];
    const asset = path === 'index.html' ? undefined : assets.get(path);
    if (asset !== undefined) return send(request, reply, asset);
    const missing = { code: 'not-found', message: 'the page has no such file', hint: 'Reload the page: /' } as const;
    return sendProblem(request, reply, missing);
  });
}

function send(request: FastifyRequest, reply: FastifyReply, { type, body, etag }: Asset): FastifyReply {
  void reply.header('etag', etag).header('cache-control', 'no-cache');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type(type).send(body);
}
