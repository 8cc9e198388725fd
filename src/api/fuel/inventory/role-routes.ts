import { ROLES_OF } from '../../../core/contracts/fuel/roles.ts';
import { actorOf } from '../../requests/actor.ts';
import { type Handlers, type RouteGroup, serve } from '../../serve.ts';

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
