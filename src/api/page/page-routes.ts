import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from '../problems/answer-problem.ts';
import { type Asset, type Assets, CONTENT_SECURITY_POLICY, pageAssets } from './assets.ts';

/** Addresses of the page's views: one document, whose router reads the path. */
const VIEWS = [
  '',
  'sites',
  'runs',
  'schedules',
  'notices',
  'nodes',
  'clusters',
  'graphs',
  'packages',
  'tags',
  'audit',
  'compare',
];

/** Answers with the page's document, whose router reads the path. */
export function showPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendAsset(request, underPolicy(reply), pageAssets()['index.html']);
}

/** A document of ours: a browser runs nothing in it but our files, and tells nobody where its reader came from. */
export const underPolicy = (reply: FastifyReply): FastifyReply =>
  reply
    .header('content-security-policy', CONTENT_SECURITY_POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('x-frame-options', 'DENY');

/** The web page: its document at `/` and below each view's path, its files below `/assets`. No part of the API. */
export async function pageRoutes(app: FastifyInstance): Promise<void> {
  const schema = { hide: true };
  for (const view of VIEWS) {
    app.get(`/${view}`, { schema }, showPage);
    if (view !== '') app.get(`/${view}/*`, { schema }, showPage);
  }

  app.get('/assets/*', { schema }, (request, reply) => {
    const path = (request.params as { '*': string })['*'];
    if (isAsset(path)) return sendAsset(request, underPolicy(reply), pageAssets()[path]);
    const missing = {
      code: 'not-found',
      message: 'the web page has no such file',
      hint: 'Reload the page: /',
    } as const;
    return sendProblem(request, reply, missing);
  });
}

const isAsset = (path: string): path is keyof Assets => path !== 'index.html' && Object.hasOwn(pageAssets(), path);

/** Sends a file, unless the browser has it. */
export function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, body, gzipped, etag }: Asset,
): FastifyReply {
  void reply.header('etag', etag).header('cache-control', 'no-cache').header('vary', 'accept-encoding');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  void reply.type(type);
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(body);
  return reply.header('content-encoding', 'gzip').send(gzipped);
}
