import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { runParams } from '../../core/contracts/primitives.js';
import type { Operations } from '../../ops/index.js';
import { drawQuery } from '../fuel/graphs/graph-schemas.js';
import { idParams, listIn } from '../fuel/request-parts.js';
import { given, problems, type RouteGroup } from '../routes/route-group.js';
import { lookAtLists, lookAtRun } from './frames.js';
import { Pictures } from './pictures.js';
import {
  pictureQuery,
  type RunTaskAnswer,
  runCountsSchema,
  runTaskPageSchema,
  runTasksQuery,
  type TaskStatus,
} from './run-schemas.js';
import { Watches } from './watches.js';

const tags = ['runs'];

const EVENTS = 'text/event-stream';

/** As `describe` of the events' answer says them. */
const eventStream = {
  200: {
    description:
      'Server-sent events. `all`: tables of named entries, as they stand; `changes`: entries that changed, null where gone; `problem`: why there is no news; `end`: nothing will change any more, and the stream ends.',
    content: { [EVENTS]: { schema: z.string() } },
  },
};

const svg = {
  200: {
    description: 'The drawing. Tasks are `g.node`, named by their `title`.',
    content: { 'image/svg+xml': { schema: z.string() } },
  },
};

/** What pages that watch a run ask: counts, tasks in pages, pictures, and events. */
export const watchRoutes: RouteGroup = async (app, { operations }) => {
  const { runs, runTasks, plans, graphs } = operations;
  const watches = new Watches({ defect: (err) => app.log.error({ err }, 'watching failed unexpectedly') });
  const pictures = new Pictures();
  app.addHook('preClose', async () => {
    watches.close();
    await pictures.close();
  });

  app.get('/runs/:run/events', {
    schema: {
      operationId: 'watchRun',
      summary: 'Watch a run: events with what changes, until it ends',
      tags,
      params: runParams,
      response: { ...eventStream, ...problems(400, 404, 503) },
    },
    handler: async (request, reply) => {
      const { run } = request.params;
      await runs.get(run);
      return stream(
        request,
        reply,
        watches.open(`run/${run}`, () => lookAtRun(operations, run)),
      );
    },
  });

  app.get('/events', {
    schema: {
      operationId: 'watchLists',
      summary: 'Watch the lists of runs, sites and clusters: events with what changes',
      tags: ['service'],
      response: { ...eventStream, ...problems(503) },
    },
    handler: async (request, reply) =>
      stream(
        request,
        reply,
        watches.open('lists', () => lookAtLists(operations)),
      ),
  });

  app.get('/runs/:run/counts', {
    schema: {
      operationId: 'countRunTasks',
      summary: 'Count the tasks of a run of graphs by status, by node and by task',
      tags,
      params: runParams,
      response: { 200: runCountsSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ params: { run } }) => ({
      graphs: await runTasks.counts(run),
      node_names: await runTasks.nodeNames(run),
    }),
  });

  app.get('/runs/:run/tasks', {
    schema: {
      operationId: 'listRunTasks',
      summary: 'List the tasks of a run of graphs, failed ones first',
      tags,
      params: runParams,
      querystring: runTasksQuery,
      response: { 200: runTaskPageSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ params, query: { nodes, statuses, ...query } }) => {
      const filter = given({ ...query, nodes: listIn(nodes), statuses: listIn(statuses) as TaskStatus[] | undefined });
      const { items, next } = await runTasks.list(params.run, filter);
      return { items: items.map(viewTask), next };
    },
  });

  app.get('/runs/:run/graph.svg', {
    schema: {
      operationId: 'drawRunGraph',
      summary: 'Draw a graph of a run as it was planned, as SVG',
      tags,
      params: runParams,
      querystring: pictureQuery,
      response: { ...svg, ...problems(400, 404, 503) },
    },
    handler: async ({ params, query }, reply) =>
      picture(reply, await pictures.svg(await runTasks.drawing(params.run, query.graph))),
  });

  app.get('/clusters/:id/deploy_tasks/graph.svg', {
    schema: {
      operationId: 'drawGraphSvg',
      summary: "Draw a cluster's graph as SVG",
      tags: ['graphs'],
      params: idParams('cluster'),
      querystring: drawQuery,
      response: { ...svg, ...problems(400, 404, 409, 503) },
    },
    handler: async ({ params, query: { graph_type = 'default', tasks, parents_for, remove } }, reply) => {
      const options = given({ tasks: listIn(tasks), parentsFor: parents_for, remove: listIn(remove) });
      return picture(reply, await pictures.svg(await plans.draw(params.id, graph_type, options)));
    },
  });

  app.get('/graphs/:id/graph.svg', {
    schema: {
      operationId: 'drawOneGraph',
      summary: 'Draw one graph, without the layers below it, as SVG',
      tags: ['graphs'],
      params: idParams('graph'),
      response: { ...svg, ...problems(400, 404, 503) },
    },
    handler: async ({ params }, reply) => picture(reply, await pictures.svg(await graphs.drawing(params.id))),
  });
};

type RunTask = Awaited<ReturnType<Operations['runTasks']['list']>>['items'][number];

const viewTask = (row: RunTask): RunTaskAnswer => ({
  graph: row.graph,
  transaction: row.transactionId,
  task: row.task,
  node: row.node,
  status: row.status,
  attempts: row.attempts,
  time_start: row.timeStart,
  time_end: row.timeEnd,
  root_cause: row.rootCause,
  message: row.message,
});

interface Reply {
  header(name: string, value: string): unknown;
  type(type: string): unknown;
}

function picture(reply: Reply, text: string): never {
  void reply.header('cache-control', 'no-cache');
  // Looked at by itself it may do nothing at all.
  void reply.header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  return (reply as unknown as FastifyReply).type('image/svg+xml').send(text) as never;
}

function stream(request: FastifyRequest, reply: Reply, events: Readable): never {
  request.raw.socket.once('close', () => events.destroy());
  void reply.header('cache-control', 'no-store');
  // Some proxies keep answers until they are whole.
  void reply.header('x-accel-buffering', 'no');
  return (reply as unknown as FastifyReply).type(EVENTS).send(events) as never;
}
