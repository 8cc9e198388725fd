import { z } from 'zod';
import { actorOf } from '../../requests/actor.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams, namedParams } from '../request-parts.js';
import { roleBody, roleListSchema, roleSchema } from './role-schemas.js';

const OWNERS = [
  ['release', 'releases', 'Release'],
  ['cluster', 'clusters', 'Cluster'],
] as const;

/** Roles of releases, and of clusters: there also those of its release and plugins, which can only be read. */
export const roleRoutes: RouteGroup = async (app, { operations }) => {
  const { roles } = operations.inventory;
  const tags = ['roles'];
  for (const [kind, path, id] of OWNERS) {
    const params = idParams(kind);
    const named = namedParams(kind, 'role');

    app.get(`/${path}/:id/roles`, {
      schema: {
        operationId: `list${id}Roles`,
        summary: `List the roles of a ${kind}`,
        tags,
        params,
        response: { 200: roleListSchema, ...problems(400, 404, 503) },
      },
      handler: async (request) => roles.list({ kind, id: request.params.id }),
    });

    app.post(`/${path}/:id/roles`, {
      schema: {
        operationId: `create${id}Role`,
        summary: `Create a role of a ${kind}`,
        tags,
        params,
        body: roleBody,
        response: { 201: roleSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request, reply) =>
        reply.code(201).send(await roles.create({ kind, id: request.params.id }, request.body, actorOf(request))),
    });

    app.get(`/${path}/:id/roles/:name`, {
      schema: {
        operationId: `get${id}Role`,
        summary: `Show a role of a ${kind}`,
        tags,
        params: named,
        response: { 200: roleSchema, ...problems(400, 404, 503) },
      },
      handler: async (request) => roles.get({ kind, id: request.params.id }, request.params.name),
    });

    app.put(`/${path}/:id/roles/:name`, {
      schema: {
        operationId: `replace${id}Role`,
        summary: `Replace a role of a ${kind}`,
        tags,
        params: named,
        body: roleBody,
        response: { 200: roleSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request) => {
        const { id: owner, name } = request.params;
        return roles.update({ kind, id: owner }, name, request.body, actorOf(request));
      },
    });

    app.delete(`/${path}/:id/roles/:name`, {
      schema: {
        operationId: `delete${id}Role`,
        summary: `Delete a role of a ${kind} that no node has`,
        tags,
        params: named,
        response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 409, 503) },
      },
      handler: async (request, reply) => {
        await roles.delete({ kind, id: request.params.id }, request.params.name, actorOf(request));
        return reply.code(204).send();
      },
    });
  }
};
