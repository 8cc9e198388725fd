import type { FastifyRequest } from 'fastify';
import type { Wire } from '../../../core/contracts/wire.js';
import type { GraphRunInput } from '../../../core/graph-run/index.js';
import type { DeploymentOptions } from '../../../ops/index.js';
import { RequestError } from '../../problems/transport-problem.js';
import { actorOf } from '../../requests/actor.js';
import { given, problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams, idsIn, isSet } from '../request-parts.js';
import {
  type changesQuery,
  changesQuery as deploymentQuery,
  deployQuery,
  executeBody,
  executeSequenceBody,
  ignoredBody,
  sequenceParams,
  startedTransactionSchema,
  taskNamesBody,
} from './transaction-schemas.js';
import { viewStarted, viewTask } from './transaction-view.js';

const tags = ['deployments'];

const started = {
  202: startedTransactionSchema.describe("Started; the run's transaction."),
  ...problems(400, 404, 409, 413, 415, 503),
};

/** Starting and stopping runs of graphs. */
export const executionRoutes: RouteGroup = async (app, { operations: { deployments } }) => {
  app.post('/graphs/execute/', {
    schema: {
      operationId: 'executeGraphs',
      summary: 'Run graphs on a cluster, one after another',
      description: 'One run per cluster at a time: a second one is refused, with the first in `hint` and `run`.',
      tags,
      body: executeBody,
      response: started,
    },
    handler: async (request, reply) => {
      const { cluster, graphs, sequence, from, subgraphs, max_nodes, hold_on_failure, ...flags } = request.body;
      if (graphs === undefined && sequence === undefined && from === undefined) {
        throw refused(
          "'graphs' is a required property",
          'Name the types of graphs to run, a sequence in `sequence`, or an earlier run in `from`.',
        );
      }
      const input: GraphRunInput = given({
        cluster,
        graphs: graphs?.map(given),
        sequence,
        from,
        subgraphs: subgraphs === undefined || subgraphs.length === 0 ? undefined : subgraphs.map(subgraph),
        max_nodes,
        hold_on_failure,
        ...optionsOf(request, flags),
      });
      return reply.code(202).send(viewStarted(await deployments.execute(input)));
    },
  });

  app.post('/sequences/:id/execute/', {
    schema: {
      operationId: 'executeSequence',
      summary: 'Run the graphs of a sequence on a cluster',
      tags,
      params: sequenceParams,
      body: executeSequenceBody,
      response: started,
    },
    handler: async (request, reply) => {
      const { cluster, ...flags } = request.body;
      const started = await deployments.executeSequence(request.params.id, cluster, optionsOf(request, flags));
      return reply.code(202).send(viewStarted(started));
    },
  });

  const deploying = { tags, params: idParams('cluster'), querystring: deployQuery, response: started };

  app.put('/clusters/:id/deploy/', {
    schema: {
      ...deploying,
      operationId: 'deployCluster',
      summary: 'Run one graph of a cluster',
      body: ignoredBody,
    },
    handler: async (request, reply) => {
      const started = await deployments.deploy(request.params.id, deploymentOf(request, request.query));
      return reply.code(202).send(viewStarted(started));
    },
  });

  app.put('/clusters/:id/provision/', {
    schema: {
      ...deploying,
      querystring: deployQuery.omit({ graph_type: true }),
      operationId: 'provisionCluster',
      summary: "Run a cluster's graph of type `provision`",
      body: ignoredBody,
    },
    handler: async (request, reply) => {
      const wanted = { ...deploymentOf(request, request.query), type: 'provision' };
      return reply.code(202).send(viewStarted(await deployments.deploy(request.params.id, wanted)));
    },
  });

  app.put('/clusters/:id/deploy_tasks/', {
    schema: {
      ...deploying,
      operationId: 'deployTasks',
      summary: 'Run some tasks of one graph of a cluster',
      body: taskNamesBody,
    },
    handler: async (request, reply) => {
      const tasks = namesIn(request.body);
      const wanted = { ...deploymentOf(request, request.query), tasks };
      return reply.code(202).send(viewStarted(await deployments.deploy(request.params.id, wanted)));
    },
  });

  for (const [path, operationId, force] of [
    ['changes/', 'deployChanges', false],
    ['changes/redeploy/', 'redeployChanges', true],
  ] as const) {
    app.put(`/clusters/:id/${path}`, {
      schema: {
        operationId,
        summary: force ? 'Deploy a cluster as if everything had changed' : 'Deploy what has changed in a cluster',
        description: "The sequence `deploy-changes` of the cluster's release, else deletion, provision and default.",
        tags,
        params: idParams('cluster'),
        querystring: deploymentQuery,
        body: ignoredBody,
        response: started,
      },
      handler: async (request, reply) => {
        const options = flagsOf(request, request.query);
        const started = await deployments.deployChanges(request.params.id, force ? { ...options, force } : options);
        return reply.code(202).send(viewStarted(started));
      },
    });
  }

  app.put('/clusters/:id/stop_deployment/', {
    schema: {
      operationId: 'stopDeployment',
      summary: "Stop a cluster's run: what runs ends, nothing new starts",
      tags,
      params: idParams('cluster'),
      body: ignoredBody,
      response: started,
    },
    handler: async (request, reply) =>
      reply.code(202).send(viewTask(await deployments.stop(request.params.id, actorOf(request)))),
  });
};

interface Flags {
  readonly dry_run?: boolean | undefined;
  readonly noop_run?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly debug?: boolean | undefined;
  readonly started_by?: string | undefined;
  readonly reason?: string | undefined;
}

function optionsOf(request: FastifyRequest, flags: Flags): DeploymentOptions {
  const { dry_run, noop_run, force, debug, started_by, ...said } = flags;
  if (dry_run && noop_run) throw refused('dry_run and noop_run exclude each other', 'Choose one of them.');
  const mode = dry_run ? 'dry_run' : noop_run ? 'noop_run' : undefined;
  return given({
    mode,
    force: force || undefined,
    debug: debug || undefined,
    started_by: actorOf(request, started_by),
    ...said,
  });
}

const flagsOf = (request: FastifyRequest, query: Wire<typeof changesQuery>): DeploymentOptions =>
  optionsOf(request, {
    dry_run: isSet(query.dry_run),
    noop_run: isSet(query.noop_run),
    force: isSet(query.force),
    debug: isSet(query.debug),
  });

function deploymentOf(
  request: FastifyRequest,
  query: Wire<typeof changesQuery> & {
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
