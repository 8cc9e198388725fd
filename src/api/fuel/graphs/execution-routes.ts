import { executionRoutes } from '../../../core/contracts/fuel/deployments.ts';
import type { PartOf } from '../../../core/contracts/route.ts';
import type { GraphRunMode } from '../../../core/words.ts';
import type { DeploymentOptions } from '../../../ops/index.ts';
import { RequestError } from '../../problems/transport-problem.ts';
import { actorOf } from '../../requests/actor.ts';
import { given } from '../../requests/given.ts';
import { type Asked, type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet } from '../request-parts.ts';
import { viewStarted, viewTask } from './transaction-view.ts';

type Routes = typeof executionRoutes;

/** Starting and stopping runs of graphs. */
export const serveExecutions: RouteGroup = async (app, { operations: { deployments } }) => {
  const deployChanges = (more: DeploymentOptions) => async (request: Asked<Routes['PUT /clusters/:id/changes/']>) =>
    viewStarted(await deployments.deployChanges(request.params.id, { ...flagsOf(request, request.query), ...more }));

  serve(app, executionRoutes, {
    async 'POST /graphs/execute/'(request) {
      const { cluster, graphs, sequence, from, subgraphs, max_nodes, hold_on_failure, hold_before, ...flags } =
        request.body;
      if (graphs === undefined && sequence === undefined && from === undefined) {
        throw refused(
          "'graphs' is a required property",
          'Name the types of graphs to run, a sequence in `sequence`, or an earlier run in `from`.',
        );
      }
      const input = given({
        cluster,
        graphs,
        sequence,
        from,
        subgraphs: subgraphs === undefined || subgraphs.length === 0 ? undefined : subgraphs.map(subgraph),
        max_nodes,
        hold_on_failure,
        hold_before,
        ...optionsOf(request, flags),
      });
      return viewStarted(await deployments.execute(input));
    },
    async 'POST /sequences/:id/execute/'(request) {
      const { cluster, ...flags } = request.body;
      return viewStarted(await deployments.executeSequence(request.params.id, cluster, optionsOf(request, flags)));
    },
    'PUT /clusters/:id/deploy/': async (request) =>
      viewStarted(await deployments.deploy(request.params.id, deploymentOf(request, request.query))),
    'PUT /cluster/:id/deploy/': async (request) =>
      viewStarted(await deployments.deploy(request.params.id, deploymentOf(request, request.query))),
    async 'PUT /clusters/:id/provision/'(request) {
      const wanted = { ...deploymentOf(request, request.query), type: 'provisioning' };
      return viewStarted(await deployments.deploy(request.params.id, wanted));
    },
    async 'PUT /clusters/:id/deploy_tasks/'(request) {
      const wanted = { ...deploymentOf(request, request.query), tasks: namesIn(request.body) };
      return viewStarted(await deployments.deploy(request.params.id, wanted));
    },
    'GET /clusters/:id/changes/': ({ params }) => deployments.changes(params.id),
    'PUT /clusters/:id/changes/': deployChanges({}),
    'PUT /clusters/:id/changes/redeploy/': deployChanges({ force: true }),
    'PUT /clusters/:id/network_configuration/:provider/verify': async (request) =>
      viewStarted(await deployments.verifyNetworks(request.params.id, optionsOf(request, {}))),
    'PUT /clusters/:id/stop_deployment/': async (request) =>
      viewTask(await deployments.stop(request.params.id, actorOf(request))),
  });
};

type Changes = PartOf<Routes['PUT /clusters/:id/changes/'], 'query'>;

type Caller = Parameters<typeof actorOf>[0];

type Flags = Omit<PartOf<Routes['POST /sequences/:id/execute/'], 'body'>, 'cluster'>;

function optionsOf(request: Caller, flags: Flags): DeploymentOptions {
  const { dry_run, noop_run, force, debug, started_by, ...said } = flags;
  if (dry_run && noop_run) throw refused('dry_run and noop_run exclude each other', 'Choose one of them.');
  const mode: GraphRunMode | undefined = dry_run ? 'dry_run' : noop_run ? 'noop_run' : undefined;
  return given({
    mode,
    force: force || undefined,
    debug: debug || undefined,
    started_by: actorOf(request, started_by),
    ...said,
  });
}

const flagsOf = (request: Caller, query: Changes): DeploymentOptions =>
  optionsOf(request, {
    dry_run: isSet(query.dry_run),
    noop_run: isSet(query.noop_run),
    force: isSet(query.force),
    debug: isSet(query.debug),
  });

function deploymentOf(
  request: Caller,
  query: Changes & {
    readonly graph_type?: string | undefined;
    readonly nodes?: string | undefined;
  },
) {
  return given({
    type: query.graph_type ?? 'default',
    nodes: idsIn(query.nodes, 'nodes'),
    ...flagsOf(request, query),
  });
}

type Side = readonly (string | null)[] | undefined;

/** Clients write null for a side that is open. */
function subgraph(asked: { readonly start?: Side; readonly end?: Side }) {
  const named = (side: Side) => {
    const names = (side ?? []).filter((one) => one !== null);
    return names.length === 0 ? undefined : names;
  };
  const read = given({ start: named(asked.start), end: named(asked.end) });
  if (read.start !== undefined || read.end !== undefined) return read;
  throw refused('a subgraph names neither start nor end', 'Write {"start": ["netconfig/1,3-5"]}, or leave it out.');
}

function namesIn(body: unknown): readonly string[] {
  if (Array.isArray(body) && body.length > 0 && body.every((one) => typeof one === 'string')) return body as string[];
  throw refused('Tasks list must be specified.', 'Send a list of names: ["netconfig", "ntp"].');
}

const refused = (message: string, hint: string) => new RequestError({ code: 'invalid', message, hint });
