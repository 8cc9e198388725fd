import { pluginRoutes } from '../../../core/contracts/fuel/plugins.ts';
import { releaseRoutes } from '../../../core/contracts/fuel/releases.ts';
import { ROLES_OF } from '../../../core/contracts/fuel/roles.ts';
import { actorOf } from '../../requests/actor.ts';
import { type Handlers, type RouteGroup, serve } from '../../serve.ts';
import { viewPlugin, viewRelease } from './views.ts';

export const serveReleases: RouteGroup = async (app, { operations }) => {
  const { releases } = operations.inventory;
  serve(app, releaseRoutes, {
    'GET /releases': async () => (await releases.list()).map(viewRelease),
    async 'POST /releases'(request, reply) {
      const release = await releases.create(request.body, actorOf(request));
      void reply.header('location', `/api/v1/releases/${release.id}`);
      return viewRelease(release);
    },
    'GET /releases/:id': async ({ params }) => viewRelease(await releases.get(params.id)),
    'PUT /releases/:id': async (request) =>
      viewRelease(await releases.update(request.params.id, request.body, actorOf(request))),
    'DELETE /releases/:id': (request) => releases.delete(request.params.id, actorOf(request)),
    'GET /releases/:id/networks': ({ params }) => releases.part(params.id, 'networks_metadata'),
    'PUT /releases/:id/networks': (request) =>
      releases.replacePart(request.params.id, 'networks_metadata', request.body, actorOf(request)),
    'GET /releases/:id/attributes_metadata': ({ params }) => releases.part(params.id, 'attributes_metadata'),
    'PUT /releases/:id/attributes_metadata': (request) =>
      releases.replacePart(request.params.id, 'attributes_metadata', request.body, actorOf(request)),
    'GET /releases/:id/components': ({ params }) => releases.components(params.id),
  });
};

export const servePlugins: RouteGroup = async (app, { operations }) => {
  const { plugins } = operations.inventory;
  serve(app, pluginRoutes, {
    'GET /plugins': async () => (await plugins.list()).map(viewPlugin),
    'GET /plugins/:id': async ({ params }) => viewPlugin(await plugins.get(params.id)),
    'PUT /plugins/:id': async (request) =>
      viewPlugin(await plugins.update(request.params.id, request.body, actorOf(request))),
    'DELETE /plugins/:id': (request) => plugins.delete(request.params.id, actorOf(request)),
  });
};

export const serveRoles: RouteGroup = async (app, { operations }) => {
  const { roles } = operations.inventory;
  const handlers = (kind: 'release' | 'cluster'): Handlers<(typeof ROLES_OF)[typeof kind]> => ({
    'GET /roles': ({ params: { id } }) => roles.list({ kind, id }),
    'POST /roles': (request) => roles.create({ kind, id: request.params.id }, request.body, actorOf(request)),
    'GET /roles/:name': ({ params: { id, name } }) => roles.get({ kind, id }, name),
    async 'PUT /roles/:name'(request) {
      const { id, name } = request.params;
      return roles.update({ kind, id }, name, request.body, actorOf(request));
    },
    'DELETE /roles/:name': (request) =>
      roles.delete({ kind, id: request.params.id }, request.params.name, actorOf(request)),
  });
  serve(app, ROLES_OF.release, handlers('release'), '/releases/:id');
  serve(app, ROLES_OF.cluster, handlers('cluster'), '/clusters/:id');
};
