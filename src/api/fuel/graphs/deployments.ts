import { executionRoutes } from '../../../core/contracts/fuel/deployments.ts';
import type { PartOf } from '../../../core/contracts/route.ts';
import type { DeploymentOptions } from '../../../ops/index.ts';
import { actorOf } from '../../requests/actor.ts';
import { given } from '../../requests/given.ts';
import { type Asked, type RouteGroup, serve } from '../../serve.ts';
import { idsIn, isSet } from '../request-parts.ts';
import { type Caller, choosesNothing, optionsOf, refused, runRequestOf } from './run-request.ts';
import { viewStarted, viewTask } from './transaction-view.ts';

type Routes = typeof executionRoutes;

/** Starting and stopping runs of graphs. */
export const serveExecutions: RouteGroup = async (app, { operations: { deployments } }) => {
  const deployChanges = (more: DeploymentOptions) => async (request: Asked<Routes['PUT /clusters/:id/changes/']>) =>
    viewStarted(await deployments.deployChanges(request.params.id, { ...flagsOf(request, request.query), ...more }));

  serve(app, executionRoutes, {
    async 'POST /graphs/execute/'(request) {
      const { cluster, ...body } = request.body;
      if (choosesNothing(body)) {
        throw refused(
          "'graphs' is a required property",
          'Name the types of graphs to run, a sequence in `sequence`, or an earlier run in `from`.',
        );
      }
      return viewStarted(await deployments.execute({ cluster, ...runRequestOf(request, body) }));
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

function namesIn(body: unknown): readonly string[] {
  if (Array.isArray(body) && body.length > 0 && body.every((one) => typeof one === 'string')) return body as string[];
  throw refused('Tasks list must be specified.', 'Send a list of names: ["netconfig", "ntp"].');
}
