import { tokenRoutes } from '../../core/contracts/token.js';
import { actorOf } from '../requests/actor.js';
import { type RouteGroup, serve } from '../serve.js';

export const serveTokens: RouteGroup = async (app, { operations: { tokens }, tokensOn = false }) =>
  serve(app, tokenRoutes, {
    'GET /me': (request) => ({
      name: actorOf(request),
      role: request.principal?.role ?? 'admin',
      tokens: tokensOn,
    }),
    'GET /tokens': async () => ({ items: await tokens.list() }),
    async 'POST /tokens'(request, reply) {
      const created = await tokens.create(request.body, actorOf(request));
      void reply.header('cache-control', 'no-store');
      return created;
    },
    'DELETE /tokens/:token': (request) => tokens.revoke(request.params.token, actorOf(request)),
  });
