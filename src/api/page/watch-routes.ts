import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { runTaskPageSchema, watchRoutes } from '../../core/contracts/run-tasks.ts';
import { trendRoutes } from '../../core/contracts/trends.ts';
import type { TaskStatus } from '../../core/words.ts';
import { type GraphMap, mapDot } from '../../graph/index.ts';
import type { Layout } from '../../graph/pictures/lay-out.ts';
import { listIn } from '../fuel/request-parts.ts';
import { given } from '../requests/given.ts';
import { type RouteGroup, serve } from '../serve.ts';
import { shown } from '../shown.ts';
import { lookAtLists, lookAtRun } from './frames.ts';
import { Pictures } from './pictures.ts';
import { Watches } from './watches.ts';

const viewTasks = shown(runTaskPageSchema);

/** Requests of pages that watch a run: counts, tasks in pages, pictures, and events. */
export const serveWatches: RouteGroup = async (app, { operations }) => {
  const { runs, runTasks, plans, graphs, trends } = operations;
  const watches = new Watches({ defect: (err) => app.log.error({ err }, 'watching failed unexpectedly') });
  const pictures = new Pictures();
  app.addHook('preClose', async () => {
    watches.close();
    await pictures.close();
  });

  const watched = (run: string) => ({ key: `run/${run}`, look: () => lookAtRun(operations, run) });

  serve(app, watchRoutes, {
    async 'GET /runs/:run/events'({ params: { run } }, reply) {
      await runs.get(run);
      return stream(reply, watches.open(watched(run)));
    },
    'GET /events': ({ query: { run = [] } }, reply) =>
      stream(
        reply,
        watches.open(
          { key: 'lists', look: () => lookAtLists(operations) },
          ...[...new Set([run].flat())].map((one) => ({ ...watched(one), run: one })),
        ),
      ),
    'GET /runs/:run/counts': async ({ params: { run } }) => ({
      graphs: await runTasks.counts(run),
      node_names: await runTasks.nodeNames(run),
    }),
    async 'GET /runs/:run/tasks'({ params, query: { nodes, statuses, ...query } }) {
      // The schema lets no other words through.
      const wanted = listIn(statuses) as readonly TaskStatus[] | undefined;
      const { items, next } = await runTasks.list(
        params.run,
        given({ ...query, nodes: listIn(nodes), statuses: wanted }),
      );
      return viewTasks({ items: items.map((one) => ({ ...one, transaction: one.transactionId })), next });
    },
    'GET /runs/:run/graph': ({ params, query }) => runTasks.graph(params.run, query.graph),
    async 'GET /runs/:run/graph/map'({ params, query: { graph, by, open }, signal }) {
      const map = await runTasks.map(params.run, graph, given({ by, open: open === undefined ? [] : [open].flat() }));
      return placed(map, await pictures.draw({ dot: mapDot(map), as: 'places' }, signal));
    },
    'GET /runs/:run/graph.svg': async ({ params, query, signal }, reply) =>
      picture(reply, await pictures.draw({ dot: await runTasks.drawing(params.run, query.graph), as: 'svg' }, signal)),
    async 'GET /clusters/:id/deploy_tasks/graph.svg'(request, reply) {
      const { params, query } = request;
      const { graph_type = 'default', tasks, parents_for, remove } = query;
      const options = given({
        tasks: listIn(tasks),
        parentsFor: parents_for,
        remove: listIn(remove),
        classes: true,
      });
      return picture(
        reply,
        await pictures.draw({ dot: await plans.draw(params.id, graph_type, options), as: 'svg' }, request.signal),
      );
    },
    'GET /graphs/:id/graph.svg': async ({ params, signal }, reply) =>
      picture(reply, await pictures.draw({ dot: await graphs.drawing(params.id), as: 'svg' }, signal)),
  });
  serve(app, trendRoutes, {
    'GET /clusters/:id/task-trends': ({ params, query }) => trends.ofTasks(Number(params.id), query.task),
    'GET /sites/:site/node-trends': ({ params }) => trends.ofNodes(params.site),
  });
};

/** Room around a map, in pixels. */
const MARGIN = 16;

/** A map where its parts lie. */
function placed({ by, groupings, boxes, frames, edges }: GraphMap, places: Uint8Array) {
  const layout = JSON.parse(new TextDecoder().decode(places)) as Layout;
  const moved = ({ x, y, ...size }: Layout['nodes'][string]) => ({ x: x + MARGIN, y: y + MARGIN, ...size });
  return {
    by,
    groupings,
    boxes: boxes.map(({ name, isGroup, tasks }, at) => ({
      name,
      is_group: isGroup,
      tasks,
      ...moved(layout.nodes[`b${at}`]!),
    })),
    frames: frames.map((name, at) => ({ name, ...moved(layout.frames[`cluster_${at}`]!) })),
    edges: edges.map(({ cross }, at) => ({
      points: layout.edges[at]!.map(([x, y]): [number, number] => [x + MARGIN, y + MARGIN]),
      cross,
    })),
    width: layout.width + 2 * MARGIN,
    height: layout.height + 2 * MARGIN,
  };
}

const picture = (reply: FastifyReply, svg: Uint8Array): FastifyReply =>
  reply
    .header('cache-control', 'no-cache')
    // Looked at by itself it may do nothing at all.
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    .type(/^text\/plain\b/.test(reply.request.headers.accept ?? '') ? 'text/plain; charset=utf-8' : 'image/svg+xml')
    .send(svg);

function stream(reply: FastifyReply, events: Readable): FastifyReply {
  reply.raw.once('close', () => events.destroy());
  // Some proxies keep answers until they are whole.
  return reply
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .type('text/event-stream')
    .send(events);
}
