import type { FastifyReply, FastifyRequest } from 'fastify';
import { GRAPHVIZ, graphTaskRoutes } from '../../../core/contracts/fuel/graphs.ts';
import type { PartOf } from '../../../core/contracts/route.ts';
import type { Diagnostic } from '../../../core/problems/diagnostic.ts';
import type { ClusterLayer } from '../../../ops/index.ts';
import { actorOf } from '../../requests/actor.ts';
import { given } from '../../requests/given.ts';
import { type Asked, type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet, listIn } from '../request-parts.ts';
import { viewTask } from './graph-view.ts';
import { sourceOf } from './read-graph-bodies.ts';
import { JSON_TYPE, readyText } from './ready-text.ts';

type Routes = typeof graphTaskRoutes;

const requestOf = (query: PartOf<Routes['GET /clusters/:id/serialized_tasks/'], 'query'>) =>
  given({
    type: query.graph_type ?? 'default',
    nodes: nonEmpty(idsIn(query.nodes, 'nodes')),
    tasks: nonEmpty(listIn(query.tasks)),
    missed: isSet(query.missed) || undefined,
  });

const nonEmpty = <T>(list: readonly T[] | undefined) => (list?.length === 0 ? undefined : list);

const cutOf = ({ start, end, include }: PartOf<Routes['GET /releases/:id/deployment_tasks/'], 'query'>) =>
  given({ start, end, include: listIn(include) });

/** Tasks of owners' graphs, and plans and drawings of a cluster's graphs, made on request and not stored. */
export const serveGraphTasks: RouteGroup = async (app, { operations: { graphs, plans } }) => {
  const replace =
    (kind: 'release' | 'cluster') =>
    async (request: Asked<Routes['PUT /releases/:id/deployment_tasks/']>, reply: FastifyReply) => {
      const { graph_type = 'default' } = request.query;
      const owner = { kind, id: request.params.id };
      const stored = await graphs.replaceTasks(owner, graph_type, sourceOf(request.body), actorOf(request));
      if (stored.warnings.length > 0) void reply.header('warning', warningHeader(stored.warnings));
      return stored.graph.tasks.map(viewTask);
    };
  const layer =
    (of: ClusterLayer) =>
    async ({ params, query }: Asked<Routes['GET /clusters/:id/deployment_tasks/']>) =>
      (await graphs.tasks(params.id, query.graph_type ?? 'default', of, cutOf(query))).map(viewTask);

  serve(app, graphTaskRoutes, {
    'PUT /releases/:id/deployment_tasks/': replace('release'),
    'PUT /clusters/:id/deployment_tasks/': replace('cluster'),
    'GET /releases/:id/deployment_tasks/': async ({ params, query }) =>
      (await graphs.releaseTasks(params.id, query.graph_type ?? 'default', cutOf(query))).map(viewTask),
    'GET /clusters/:id/deployment_tasks/': layer('merged'),
    'GET /clusters/:id/deployment_tasks/own/': layer('own'),
    'GET /clusters/:id/deployment_tasks/plugins/': layer('plugins'),
    'GET /clusters/:id/deployment_tasks/release/': layer('release'),
    async 'GET /clusters/:id/plan/'(request, reply) {
      const { id } = request.params;
      const wanted = { ...requestOf(request.query), force: isSet(request.query.force) };
      switch (request.query.format ?? acceptedFormat(request)) {
        case 'dot':
          return readyText(reply, GRAPHVIZ, await plans.dot(id, wanted));
        case 'text':
          return readyText(reply, 'text/plain; charset=utf-8', await plans.text(id, wanted));
        default:
          return readyText(reply, JSON_TYPE, JSON.stringify(await plans.explain(id, wanted)));
      }
    },
    async 'GET /clusters/:id/serialized_tasks/'({ params, query }, reply) {
      const plan = await plans.serialized(params.id, requestOf(query), { dry_run: false, noop_run: false });
      return readyText(reply, JSON_TYPE, plan);
    },
    async 'GET /clusters/:id/deploy_tasks/graph.gv'({ params, query }, reply) {
      const { graph_type = 'default', tasks, parents_for, remove } = query;
      const options = given({ tasks: nonEmpty(listIn(tasks)), parentsFor: parents_for, remove: listIn(remove) });
      return readyText(reply, GRAPHVIZ, await plans.draw(params.id, graph_type, options));
    },
  });
};

function acceptedFormat({ headers }: Pick<FastifyRequest, 'headers'>): 'json' | 'text' | 'dot' {
  const accept = headers.accept ?? '';
  if (accept.includes('application/json')) return 'json';
  if (accept.includes(GRAPHVIZ)) return 'dot';
  return accept.includes('text/plain') ? 'text' : 'json';
}

const MAX = 10;

/** Findings for an answer whose body has no room for them (RFC 7234 §5.5). */
const warningHeader = (warnings: readonly Diagnostic[]): string =>
  warnings
    .slice(0, MAX)
    .map(({ path, message }) => {
      const text = `${path === undefined ? '' : `${path}: `}${message}`.slice(0, 200);
      // Headers take printable ASCII.
      return `199 - "${text.replaceAll(/[^ -~]/g, '?').replaceAll(/["\\]/g, "'")}"`;
    })
    .join(', ');
