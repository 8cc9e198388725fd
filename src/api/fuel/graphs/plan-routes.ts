import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Wire } from '../../../core/contracts/wire.js';
import { given, problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams, idsIn, isSet, listIn } from '../request-parts.js';
import { clusterPlanSchema, drawQuery, formattedPlanQuery, planQuery, serializedSchema } from './graph-schemas.js';
import { JSON_TYPE, readyText } from './ready-text.js';

const tags = ['graphs'];

const GRAPHVIZ = 'text/vnd.graphviz';

const requestOf = (query: Wire<typeof planQuery>) =>
  given({
    type: query.graph_type ?? 'default',
    nodes: nonEmpty(idsIn(query.nodes, 'nodes')),
    tasks: nonEmpty(listIn(query.tasks)),
  });

const nonEmpty = <T>(list: readonly T[] | undefined) => (list?.length === 0 ? undefined : list);

/** What a cluster's graphs would do: plans and drawings, made now, stored nowhere. */
export const planRoutes: RouteGroup = async (app, { operations: { plans } }) => {
  app.get('/clusters/:id/plan/', {
    schema: {
      operationId: 'planCluster',
      summary: 'Show what a run would do now: by node what runs, what does not, and why',
      tags,
      params: idParams('cluster'),
      querystring: formattedPlanQuery,
      response: {
        200: {
          description: 'The plan; JSON unless `format` or `Accept` asks for text or DOT.',
          content: {
            'application/json': { schema: clusterPlanSchema },
            'text/plain': { schema: z.string() },
            [GRAPHVIZ]: { schema: z.string() },
          },
        },
        ...problems(400, 404, 409, 503),
      },
    },
    handler: async (request, reply) => {
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
  });

  app.get('/clusters/:id/serialized_tasks/', {
    schema: {
      operationId: 'serializeTasks',
      summary: 'Show the plan of a graph in the form executors of the Fuel line get',
      tags,
      params: idParams('cluster'),
      querystring: planQuery,
      response: { 200: serializedSchema, ...problems(400, 404, 409, 503) },
    },
    handler: async ({ params, query }, reply) => {
      const plan = await plans.serialized(params.id, requestOf(query), { dry_run: false, noop_run: false });
      return readyText(reply, JSON_TYPE, plan);
    },
  });

  app.get('/clusters/:id/deploy_tasks/graph.gv', {
    schema: {
      operationId: 'drawGraph',
      summary: "Draw a cluster's graph in the language of Graphviz",
      tags,
      params: idParams('cluster'),
      querystring: drawQuery,
      response: {
        200: { description: 'The drawing.', content: { [GRAPHVIZ]: { schema: z.string() } } },
        ...problems(400, 404, 409, 503),
      },
    },
    handler: async ({ params, query }, reply) => {
      const { graph_type = 'default', tasks, parents_for, remove } = query;
      const options = given({ tasks: nonEmpty(listIn(tasks)), parentsFor: parents_for, remove: listIn(remove) });
      return readyText(reply, GRAPHVIZ, await plans.draw(params.id, graph_type, options));
    },
  });
};

function acceptedFormat({ headers }: FastifyRequest): 'json' | 'text' | 'dot' {
  const accept = headers.accept ?? '';
  if (accept.includes('application/json')) return 'json';
  if (accept.includes(GRAPHVIZ)) return 'dot';
  return accept.includes('text/plain') ? 'text' : 'json';
}
