import { tokenRoutes } from '../../core/contracts/tokens.ts';
import { clearCookie, TOKEN_COOKIE, writeCookie } from '../access/cookies.ts';
import { requireOwnPage } from '../access/own-pages.ts';
import { LOGIN_PATH } from '../access/sign-in-routes.ts';
import { RequestError } from '../problems/transport-problem.ts';
import { actorOf } from '../requests/actor.ts';
import { type RouteGroup, serve } from '../serve.ts';

const notOurs = (what: string) =>
  new RequestError({ code: 'unauthenticated', message: `the ${what} is unknown or no longer valid` });

export const serveTokens: RouteGroup = async (app, { operations: { tokens }, tokensOn = false, openId }) => {
  serve(app, tokenRoutes, {
    'GET /me': (request) => ({
      name: actorOf(request),
      role: request.principal?.role ?? 'admin',
      tokens: tokensOn,
    }),
    'GET /session': () => ({
      tokens: tokensOn,
      openid: openId === undefined ? null : `${openId.pageUrl}${LOGIN_PATH}`,
    }),
    async 'POST /session'(request, reply) {
      requireOwnPage(request);
      const { token } = request.body;
      const answer = await tokens.authenticate(token);
      if (!answer.ok) throw notOurs('token');
      const secure = request.protocol === 'https' || request.headers.origin?.startsWith('https:') === true;
      writeCookie(reply, TOKEN_COOKIE, token, { secure });
      return { name: answer.principal.name, role: answer.principal.role, tokens: tokensOn };
    },
    async 'DELETE /session'({ principal }, reply) {
      clearCookie(reply, TOKEN_COOKIE);
      if (principal?.kind === 'session') await tokens.revoke(principal.id, principal.name);
    },
    async 'POST /session/exchange'(request, reply) {
      const user = openId?.codes.take(request.body.code, request.body.verifier);
      if (openId === undefined || user === undefined) throw notOurs('code');
      void reply.header('cache-control', 'no-store');
      return tokens.startSession(user, openId.sessionHours);
    },
    'GET /tokens': async () => ({ items: await tokens.list() }),
    async 'POST /tokens'(request, reply) {
      const created = await tokens.create(request.body, actorOf(request));
      void reply.header('cache-control', 'no-store');
      return created;
    },
    'DELETE /tokens/:token': (request) => tokens.revoke(request.params.token, actorOf(request)),
  });
};
