import type { FastifyReply } from 'fastify';
import { keystoneRoutes } from '../../core/contracts/keystone.ts';
import { CREATE_TOKEN } from '../../core/next-steps.ts';
import type { Principal } from '../../ops/index.ts';
import { type RouteGroup, serve } from '../serve.ts';

/** Who logged in, by the token that is the password. */
interface Admitted extends Principal {
  readonly token: string;
  readonly expires: string;
}

/** Its clients ask again before a login ends; a token without an end is good for this long each time. */
const DAY_MS = 86_400_000;
const PROJECT = { id: 'sitewright', name: 'admin' } as const;
const DOMAIN = { id: 'default', name: 'Default' } as const;

/**
 * Keystone's token calls for our own users, so that Fuel's clients can log in from any host. They get back the token
 * they gave as a password: nothing is issued that could not be revoked by `sitewright token revoke`.
 */
export const serveKeystone: RouteGroup = async (app, { operations: { tokens }, tokensOn = false }) => {
  /** @param user absent when a token is renewed; @returns why not, as text */
  async function admit(user: string | undefined, token: string | undefined): Promise<Admitted | string> {
    if (!tokensOn) return 'this API needs no login: access.tokens is off';
    if (token === undefined) return 'give the name of a token as user, and the token itself as password';
    const answer = await tokens.authenticate(token);
    if (!answer.ok) {
      const what = answer.why === 'unknown' ? 'is not a token of this API' : `is a token that is ${answer.why}`;
      return `the password ${what}; an admin creates tokens with '${CREATE_TOKEN}'`;
    }
    const { principal } = answer;
    if (user !== undefined && user !== principal.name)
      return `the password is the token of '${principal.name}', not of '${user}'`;
    const ends = (await tokens.list()).find(({ id }) => id === principal.id)?.expires_at;
    return { ...principal, token, expires: ends ?? new Date(Date.now() + DAY_MS).toISOString() };
  }

  app.setNotFoundHandler((_request, reply) =>
    refuse(
      reply,
      `only the token call of Keystone is supported; users are tokens of the API: '${CREATE_TOKEN}', 'sitewright token revoke NAME'`,
      404,
    ),
  );

  serve(app, keystoneRoutes, {
    async 'POST /v2.0/tokens'({ body: { auth } }, reply) {
      const { passwordCredentials: login, token: renewed } = auth;
      const admitted = await admit(login?.username, login?.password ?? renewed?.id);
      if (typeof admitted === 'string') return refuse(reply, admitted);
      const { id, name, role, token, expires } = admitted;
      return {
        access: {
          token: {
            id: token,
            issued_at: new Date().toISOString(),
            expires,
            tenant: { ...PROJECT, enabled: true, description: '' },
          },
          user: { id, name, username: name, roles: [{ name: role }], roles_links: [] },
          serviceCatalog: [],
          metadata: { is_admin: role === 'admin' ? 1 : 0, roles: [role] },
        },
      };
    },
    async 'POST /v3/auth/tokens'({ body }, reply) {
      const { methods, password, token: renewed } = body.auth.identity;
      const user = password?.user;
      const admitted = await admit(user?.name ?? user?.id, user?.password ?? renewed?.id);
      if (typeof admitted === 'string') return refuse(reply, admitted);
      const { id, name, role, token, expires } = admitted;
      void reply.header('x-subject-token', token);
      return {
        token: {
          methods,
          user: { id, name, domain: DOMAIN },
          project: { ...PROJECT, domain: DOMAIN },
          roles: [{ id: role, name: role }],
          catalog: [],
          issued_at: new Date().toISOString(),
          expires_at: expires,
        },
      };
    },
  });
};

/** In Keystone's own shape: its clients show `message`. */
const refuse = (reply: FastifyReply, message: string, code: 401 | 404 = 401) =>
  reply
    .code(code)
    .type('application/json')
    .send({ error: { code, title: code === 401 ? 'Unauthorized' : 'Not Found', message } });
