import { GRAPHS_OF, graphRoutes } from '../../../core/contracts/fuel/graphs.ts';
import type { OwnerKind } from '../../../core/words.ts';
import { actorOf } from '../../requests/actor.ts';
import { given } from '../../requests/given.ts';
import { requireRole } from '../../requests/require-role.ts';
import { type Asked, type Handlers, type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet, listIn } from '../request-parts.ts';
import { viewGraph, viewUploaded } from './graph-view.ts';
import { sourceOf } from './read-graph-bodies.ts';

/** Graphs by id, and by owner and type. */
export const serveGraphs: RouteGroup = async (app, { operations: { graphs } }) => {
  /** Its path does not show that a graph is part of a package. */
  const mayChange = async (request: Asked<(typeof graphRoutes)['DELETE /graphs/:id']>) => {
    const { owner } = await graphs.get(request.params.id);
    if (owner.kind !== 'cluster') requireRole(request, 'admin');
  };
  const change = async (request: Asked<(typeof graphRoutes)['PUT /graphs/:id']>) => {
    await mayChange(request);
    return viewUploaded(await graphs.update(request.params.id, sourceOf(request.body), actorOf(request)));
  };

  serve(app, graphRoutes, {
    async 'GET /graphs/'({ query }) {
      const filter = given({
        clusters: idsIn(query.clusters_ids, 'clusters_ids'),
        plugins: idsIn(query.plugins_ids, 'plugins_ids'),
        releases: idsIn(query.releases_ids, 'releases_ids'),
        types: listIn(query.graph_types),
        fetchRelated: isSet(query.fetch_related),
      });
      return (await graphs.list(filter)).map(viewGraph);
    },
    'POST /graphs/check/': ({ body, query: { cluster, graph_type = 'default' } }) =>
      graphs.check(
        sourceOf(body),
        cluster === undefined ? undefined : { owner: { kind: 'cluster', id: cluster }, type: graph_type },
      ),
    'GET /graphs/:id': async ({ params }) => viewGraph(await graphs.get(params.id)),
    'PUT /graphs/:id': change,
    'PATCH /graphs/:id': change,
    async 'DELETE /graphs/:id'(request) {
      await mayChange(request);
      await graphs.delete(request.params.id, actorOf(request));
    },
  });

  const handlers = (kind: OwnerKind): Handlers<(typeof GRAPHS_OF)[OwnerKind]> => {
    const changeOwned = async (request: Asked<(typeof GRAPHS_OF)[OwnerKind]['PUT /deployment_graphs/:type']>) => {
      const { id, type } = request.params;
      return viewUploaded(await graphs.change({ kind, id }, type, sourceOf(request.body), actorOf(request)));
    };
    return {
      'GET /deployment_graphs/': async ({ params: { id } }) => (await graphs.ofOwner({ kind, id })).map(viewGraph),
      'GET /deployment_graphs/:type': async ({ params: { id, type } }) =>
        viewGraph(await graphs.find({ kind, id }, type)),
      async 'POST /deployment_graphs/:type'(request, reply) {
        const { id, type } = request.params;
        const stored = await graphs.create({ kind, id }, type, sourceOf(request.body), actorOf(request));
        void reply.header('location', `/api/v1/${kind}s/${id}/deployment_graphs/${type}`);
        return viewUploaded(stored);
      },
      'PUT /deployment_graphs/:type': changeOwned,
      'PATCH /deployment_graphs/:type': changeOwned,
      async 'DELETE /deployment_graphs/:type'(request) {
        const { id, type } = request.params;
        await graphs.remove({ kind, id }, type, actorOf(request));
      },
    };
  };
  serve(app, GRAPHS_OF.release, handlers('release'), '/releases/:id');
  serve(app, GRAPHS_OF.cluster, handlers('cluster'), '/clusters/:id');
  serve(app, GRAPHS_OF.plugin, handlers('plugin'), '/plugins/:id');
};
