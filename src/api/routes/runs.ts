import type { PartOf } from '../../core/contracts/route.ts';
import { type Run, runPageSchema, runRoutes, runSchema } from '../../core/contracts/runs.ts';
import { GRAPH_RUN_KIND } from '../../core/words.ts';
import type { Json } from '../../store/index.ts';
import { listIn } from '../fuel/request-parts.ts';
import { actorOf } from '../requests/actor.ts';
import { given, isTrue } from '../requests/given.ts';
import { requireRole } from '../requests/require-role.ts';
import { type Asked, type RouteGroup, serve } from '../serve.ts';
import { shown } from '../shown.ts';
import { taskLog } from './task-logs.ts';

const view = shown(runSchema);
const viewPage = shown(runPageSchema);

const filterOf = ({
  open,
  label,
  started_by,
  workflow_id,
  cluster,
  ...query
}: PartOf<(typeof runRoutes)['GET /runs'], 'query'>) =>
  given({
    // The cluster of a run of graphs is a label of it.
    ...(cluster === undefined ? {} : { kind: GRAPH_RUN_KIND }),
    ...query,
    labels: labelsOf(label, cluster),
    startedBy: started_by,
    workflowId: workflow_id,
    open: isTrue(open),
  });

const labelsOf = (label: string | readonly string[] | undefined, cluster: number | undefined) =>
  label === undefined && cluster === undefined
    ? undefined
    : [
        ...[label ?? []].flat().map(readLabel),
        ...(cluster === undefined ? [] : [['cluster', String(cluster)] as const]),
      ];

/** `NAME:VALUE`; one without a value is a label with an empty one. */
function readLabel(text: string): [name: string, value: string] {
  const at = `${text}:`.indexOf(':');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** The description of a run; lists have no room for it. */
const descriptionOf = (parameters: Json): string | null => {
  const said = (parameters as { readonly description?: unknown } | null)?.description;
  return typeof said === 'string' ? said : null;
};

export const serveRuns: RouteGroup = async (app, { operations: { runs, attempts, sites, taskLogs } }) => {
  const current = async (id: string): Promise<Run> => view(await runs.get(id));

  const onTask = async (
    request: Asked<(typeof runRoutes)['POST /runs/:run/nodes/:node/tasks/:task/retry']>,
    action: 'retry_task' | 'skip_task',
  ) => {
    const { run, task, node } = request.params;
    return runs.update(run, action, { ...(await runs.taskNamed(run, { task, node })), ...operatorOf(request) });
  };

  serve(app, runRoutes, {
    async 'POST /sites/:site/runs'(request, reply) {
      const { kind, ...input } = request.body;
      const { site } = request.params;
      if (input.override_limits !== undefined) requireRole(request, 'admin');
      const run = await runs.start(kind, { ...input, site, started_by: actorOf(request, input.started_by) });
      void reply.header('location', `/api/v1/runs/${encodeURIComponent(run.id)}`);
      return view(run);
    },
    async 'GET /runs'({ query }) {
      const page = await runs.list(filterOf(query));
      if (page.items.length === 0) await runs.checkSubject(given({ site: query.site, cluster: query.cluster }));
      return viewPage(page);
    },
    async 'GET /sites/:site/runs'({ params, query }) {
      const { name } = await sites.get(params.site);
      return viewPage(await runs.list({ ...filterOf(query), site: name }));
    },
    async 'GET /runs/:run'({ params }) {
      const run = await runs.get(params.run);
      return { ...view(run), description: descriptionOf(run.parameters), parameters: run.parameters };
    },
    'GET /runs/:run/status': ({ params }) => runs.status(params.run),
    'GET /runs/:run/report': ({ params }) => runs.report(params.run),
    'GET /runs/:run/tree': ({ params }) => runs.tree(params.run),
    'GET /runs/:run/plan': async ({ params }) => ({ plan: await runs.plan(params.run) }),
    'GET /runs/:run/nodes': async ({ params }) => ({ items: await runs.nodes(params.run) }),
    'GET /runs/:run/usual': ({ params, query: { graph, nodes } }) =>
      runs.usualTimes(params.run, given({ graph, nodes: listIn(nodes) })),
    'GET /runs/:run/logs': ({ params, query }) => taskLogs.ofRun(params.run, given(query)),
    'GET /runs/:run/nodes/:node/tasks/:task/log': taskLog(taskLogs),
    'GET /runs/:run/nodes/:node/temporal': async ({ params: { run, node }, query }, reply) =>
      reply.redirect(await attempts.addressOf(run, { node, ...given(query) }), 303),
    'POST /runs/:run/pause': (request) => runs.update(request.params.run, 'pause', operatorOf(request)),
    'POST /runs/:run/resume': (request) => runs.resume(request.params.run, operatorOf(request)),
    async 'POST /runs/:run/stop'(request) {
      await runs.stop(request.params.run, operatorOf(request));
      return current(request.params.run);
    },
    async 'POST /runs/:run/cancel'(request) {
      await runs.cancel(request.params.run, operatorOf(request));
      return current(request.params.run);
    },
    'POST /runs/:run/approve': (request) => runs.update(request.params.run, 'approve', approvalOf(request)),
    'POST /runs/:run/reject': (request) => runs.update(request.params.run, 'reject', approvalOf(request)),
    'POST /runs/:run/promote': (request) =>
      runs.update(request.params.run, 'promote', {
        ...rolloutOf(request),
        ...given({ limit: request.body.limit, recheck: request.body.recheck }),
      }),
    'POST /runs/:run/hold': (request) => runs.update(request.params.run, 'hold', rolloutOf(request)),
    'POST /runs/:run/abort-rollout': (request) => runs.update(request.params.run, 'abort_rollout', rolloutOf(request)),
    async 'POST /runs/:run/nodes/:node/retry'(request) {
      const { run, node } = request.params;
      const { tasks } = request.body;
      const about = { node: await runs.nodeNamed(run, node), ...given({ tasks }) };
      return runs.update(run, 'retry_node', { ...about, ...operatorOf(request) });
    },
    'POST /runs/:run/nodes/:node/tasks/:task/retry': (request) => onTask(request, 'retry_task'),
    'POST /runs/:run/nodes/:node/tasks/:task/skip': (request) => onTask(request, 'skip_task'),
  });
};

function operatorOf(request: Asked<(typeof runRoutes)['POST /runs/:run/pause']>) {
  const { by, reason } = request.body;
  return given({ by: actorOf(request, by), reason });
}

const rolloutOf = (request: Asked<(typeof runRoutes)['POST /runs/:run/hold']>) =>
  given({ ...operatorOf(request), group: request.body.group });

const approvalOf = (request: Asked<(typeof runRoutes)['POST /runs/:run/approve']>) =>
  given({ ...operatorOf(request), before: request.body.before });
