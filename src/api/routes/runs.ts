import { runNodeListSchema } from '../../core/contracts/node-in-run.js';
import { runNodeParams, runParams, runTaskParams, siteParams } from '../../core/contracts/primitives.js';
import {
  anyReportSchema,
  anyStatusSchema,
  operatorBody,
  runDetailSchema,
  runPageSchema,
  runPlanAnswerSchema,
  runSchema,
  runsQuery,
  siteRunsQuery,
  startRunBody,
} from '../../core/contracts/run.js';
import { runTreeSchema } from '../../core/contracts/site-run.js';
import type { Wire } from '../../core/contracts/wire.js';
import type { Json } from '../../store/index.js';
import { actorOf } from '../requests/actor.js';
import { viewRun, viewRunNode, viewRunPage } from '../views/run.js';
import { given, isTrue, problems, type RouteGroup } from './route-group.js';

const tags = ['runs'];

const filterOf = ({
  open,
  label,
  started_by,
  workflow_id,
  ...query
}: Wire<typeof siteRunsQuery> & { workflow_id?: string | undefined }) =>
  given({
    ...query,
    labels: label === undefined ? undefined : [label].flat().map(readLabel),
    startedBy: started_by,
    workflowId: workflow_id,
    open: isTrue(open),
  });

/** `NAME:VALUE`; one without a value is a label with an empty one. */
function readLabel(text: string): [name: string, value: string] {
  const at = `${text}:`.indexOf(':');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** What its starter said of a run; the report of lists has no room for it. */
const descriptionOf = (parameters: Json): string | null => {
  const said = (parameters as { readonly description?: unknown } | null)?.description;
  return typeof said === 'string' ? said : null;
};

export const runRoutes: RouteGroup = async (app, { operations: { runs, sites } }) => {
  app.post('/sites/:site/runs', {
    schema: {
      operationId: 'startRun',
      summary: 'Start a run on a site',
      description: 'One run per site at a time: a second one is refused with the id of the first (`run`).',
      tags,
      params: siteParams,
      body: startRunBody,
      response: {
        202: runSchema.describe('Started; `Location` says where to watch it.'),
        ...problems(400, 404, 409, 413, 415, 503),
      },
    },
    handler: async (request, reply) => {
      const { kind, ...input } = request.body;
      const { site } = request.params;
      const run = await runs.start(kind, given({ ...input, site, started_by: actorOf(request, input.started_by) }));
      return reply
        .code(202)
        .header('location', `/api/v1/runs/${encodeURIComponent(run.id)}`)
        .send(viewRun(run));
    },
  });

  app.get('/runs', {
    schema: {
      operationId: 'listRuns',
      summary: 'List runs, newest first',
      tags,
      querystring: runsQuery,
      response: { 200: runPageSchema, ...problems(400, 503) },
    },
    handler: async (request) => viewRunPage(await runs.list(filterOf(request.query))),
  });

  app.get('/sites/:site/runs', {
    schema: {
      operationId: 'listSiteRuns',
      summary: "List a site's runs, newest first",
      tags,
      params: siteParams,
      querystring: siteRunsQuery,
      response: { 200: runPageSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => {
      const { name } = await sites.get(request.params.site);
      return viewRunPage(await runs.list({ ...filterOf(request.query), site: name }));
    },
  });

  const read = { tags, params: runParams };

  app.get('/runs/:run', {
    schema: {
      ...read,
      operationId: 'getRun',
      summary: 'Show a run',
      response: { 200: runDetailSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => {
      const run = await runs.get(request.params.run);
      return { ...viewRun(run), description: descriptionOf(run.parameters), parameters: run.parameters };
    },
  });

  app.get('/runs/:run/status', {
    schema: {
      ...read,
      operationId: 'getRunStatus',
      summary: 'Show how far a run is',
      response: { 200: anyStatusSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => runs.status(request.params.run),
  });

  app.get('/runs/:run/report', {
    schema: {
      ...read,
      operationId: 'getRunReport',
      summary: 'Show what happened to every group and node, and why',
      response: { 200: anyReportSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => runs.report(request.params.run),
  });

  app.get('/runs/:run/tree', {
    schema: {
      ...read,
      operationId: 'getRunTree',
      summary: 'Show every step and node of a run as a tree',
      response: { 200: runTreeSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => runs.tree(request.params.run),
  });

  app.get('/runs/:run/plan', {
    schema: {
      ...read,
      operationId: 'getRunPlan',
      summary: 'Show what a run set out to do',
      response: { 200: runPlanAnswerSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => ({ plan: await runs.plan(request.params.run) }),
  });

  app.get('/runs/:run/nodes', {
    schema: {
      ...read,
      operationId: 'listRunNodes',
      summary: 'List the nodes of a run, as the store knows them',
      response: { 200: runNodeListSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => ({ items: (await runs.nodes(request.params.run)).map(viewRunNode) }),
  });

  const steer = { tags, params: runParams, body: operatorBody };

  app.post('/runs/:run/pause', {
    schema: {
      ...steer,
      operationId: 'pauseRun',
      summary: 'Pause a run: what runs ends, nothing new starts',
      response: { 200: anyStatusSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => runs.update(request.params.run, 'pause', operatorOf(request)),
  });

  app.post('/runs/:run/resume', {
    schema: {
      ...steer,
      operationId: 'resumeRun',
      summary: 'Let a paused run go on',
      response: { 200: anyStatusSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => runs.update(request.params.run, 'resume', operatorOf(request)),
  });

  app.post('/runs/:run/stop', {
    schema: {
      ...steer,
      operationId: 'stopRun',
      summary: 'Stop a run gracefully: what runs ends, the rest is left, a report is written',
      response: { 202: runSchema.describe('It is told; watch it end.'), ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      await runs.stop(request.params.run, operatorOf(request));
      return reply.code(202).send(viewRun(await runs.get(request.params.run)));
    },
  });

  app.post('/runs/:run/cancel', {
    schema: {
      ...steer,
      operationId: 'cancelRun',
      summary: 'Cancel a run: what runs is aborted as far as MAAS can',
      response: { 202: runSchema.describe('It is told; watch it end.'), ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      await runs.cancel(request.params.run, operatorOf(request));
      return reply.code(202).send(viewRun(await runs.get(request.params.run)));
    },
  });

  app.post('/runs/:run/nodes/:node/retry', {
    schema: {
      tags,
      params: runNodeParams,
      body: operatorBody,
      operationId: 'retryNode',
      summary: 'Try a failed node of a run again',
      response: { 200: anyStatusSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) =>
      runs.update(request.params.run, 'retry_node', { node: request.params.node, ...operatorOf(request) }),
  });

  for (const [verb, operationId, summary, update] of [
    ['retry', 'retryTask', 'Run a failed task of a run of graphs again', 'retry_task'],
    ['skip', 'skipTask', 'Go on without a task of a run of graphs', 'skip_task'],
  ] as const) {
    app.post(`/runs/:run/tasks/:task/${verb}`, {
      schema: {
        tags,
        params: runTaskParams,
        body: operatorBody,
        operationId,
        summary,
        response: { 200: anyStatusSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request) =>
        runs.update(request.params.run, update, { task: request.params.task, ...operatorOf(request) }),
    });
  }
};

function operatorOf(request: Parameters<typeof actorOf>[0] & { readonly body: Wire<typeof operatorBody> }) {
  const { by, reason } = request.body;
  return given({ by: actorOf(request, by), reason });
}
