import { z } from 'zod';
import { actorOf } from '../../requests/actor.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams } from '../request-parts.js';
import {
  componentListSchema,
  jsonObjectBody,
  jsonObjectSchema,
  newReleaseBody,
  releaseChangesBody,
  releaseListSchema,
  releaseSchema,
} from './release-schemas.js';
import { viewRelease } from './views.js';

const tags = ['releases'];
const params = idParams('release');
/** Releases carry roles, settings and tasks. */
const bodyLimit = 16 * 1024 * 1024;

export const releaseRoutes: RouteGroup = async (app, { operations }) => {
  const { releases } = operations.inventory;

  app.get('/releases', {
    schema: {
      operationId: 'listReleases',
      summary: 'List what clusters can be made of',
      tags,
      response: { 200: releaseListSchema, ...problems(503) },
    },
    handler: async () => (await releases.list()).map(viewRelease),
  });

  app.post('/releases', {
    bodyLimit,
    schema: {
      operationId: 'createRelease',
      summary: 'Create a release by hand; packages bring theirs',
      tags,
      body: newReleaseBody,
      response: { 201: releaseSchema, ...problems(400, 409, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      const release = await releases.create(request.body, actorOf(request));
      return reply.code(201).header('location', `/api/v1/releases/${release.id}`).send(viewRelease(release));
    },
  });

  app.get('/releases/:id', {
    schema: {
      operationId: 'getRelease',
      summary: 'Show a release',
      tags,
      params,
      response: { 200: releaseSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => viewRelease(await releases.get(request.params.id)),
  });

  app.put('/releases/:id', {
    bodyLimit,
    schema: {
      operationId: 'changeRelease',
      summary: 'Change a release in the fields that are given',
      tags,
      params,
      body: releaseChangesBody,
      response: { 200: releaseSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => viewRelease(await releases.update(request.params.id, request.body, actorOf(request))),
  });

  app.delete('/releases/:id', {
    schema: {
      operationId: 'deleteRelease',
      summary: 'Delete a release that no cluster is made of, with its graphs',
      tags,
      params,
      response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 409, 503) },
    },
    handler: async (request, reply) => {
      await releases.delete(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  });

  const parts = [
    ['networks', 'networks_metadata', 'Networks', 'networks its clusters start with'],
    ['attributes_metadata', 'attributes_metadata', 'Settings', 'settings its clusters start with'],
  ] as const;
  for (const [path, part, id, words] of parts) {
    app.get(`/releases/:id/${path}`, {
      schema: {
        operationId: `getRelease${id}`,
        summary: `Show the ${words}`,
        tags,
        params,
        response: { 200: jsonObjectSchema, ...problems(400, 404, 503) },
      },
      handler: async (request) => releases.part(request.params.id, part),
    });
    app.put(`/releases/:id/${path}`, {
      bodyLimit,
      schema: {
        operationId: `replaceRelease${id}`,
        summary: `Replace the ${words}`,
        tags,
        params,
        body: jsonObjectBody,
        response: { 200: jsonObjectSchema, ...problems(400, 404, 413, 415, 503) },
      },
      handler: async (request) => releases.replacePart(request.params.id, part, request.body, actorOf(request)),
    });
  }

  app.get('/releases/:id/components', {
    schema: {
      operationId: 'listReleaseComponents',
      summary: 'List components of a release, and those of plugins that fit it',
      tags,
      params,
      response: { 200: componentListSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => releases.components(request.params.id),
  });
};
