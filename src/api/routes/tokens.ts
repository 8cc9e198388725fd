import {
  createdTokenSchema,
  createTokenBody,
  meSchema,
  tokenListSchema,
  tokenParams,
  tokenSchema,
} from '../../core/contracts/token.js';
import { actorOf } from '../requests/actor.js';
import { given, problems, type RouteGroup } from './route-group.js';

const tags = ['access'];

export const tokenRoutes: RouteGroup = async (app, { operations: { tokens }, tokensOn = false }) => {
  app.get('/me', {
    schema: {
      operationId: 'getMe',
      summary: 'Who you are here, and what you may do',
      tags,
      response: { 200: meSchema, ...problems(400, 503) },
    },
    handler: async (request) => ({
      name: actorOf(request),
      role: request.principal?.role ?? ('admin' as const),
      tokens: tokensOn,
    }),
  });

  app.get('/tokens', {
    schema: {
      operationId: 'listTokens',
      summary: 'List the tokens of the API, newest first',
      tags,
      response: { 200: tokenListSchema, ...problems(503) },
    },
    handler: async () => ({ items: await tokens.list() }),
  });

  app.post('/tokens', {
    schema: {
      operationId: 'createToken',
      summary: 'Make a token; its secret is in this answer and in no other',
      tags,
      body: createTokenBody,
      response: {
        201: createdTokenSchema.describe('Made. Keep `token`: it cannot be read again.'),
        ...problems(400, 409, 413, 415, 503),
      },
    },
    handler: async (request, reply) => {
      const created = await tokens.create(given(request.body), actorOf(request));
      return reply.code(201).header('cache-control', 'no-store').send(created);
    },
  });

  app.delete('/tokens/:token', {
    schema: {
      operationId: 'revokeToken',
      summary: 'Revoke a token; it is good for nothing from now on',
      tags,
      params: tokenParams,
      response: { 200: tokenSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => tokens.revoke(request.params.token, actorOf(request)),
  });
};
