import { z } from 'zod';
import type { HistoryRecord } from '../../../ops/index.js';
import { actorOf } from '../../requests/actor.js';
import { given, problems, type RouteGroup } from '../../routes/route-group.js';
import { isSet, listIn } from '../request-parts.js';
import { JSON_TYPE, readyText } from './ready-text.js';
import {
  deleteQuery,
  historyQuery,
  historySchema,
  snapshotSchema,
  transactionListSchema,
  transactionParams,
  transactionPlansSchema,
  transactionSchema,
  transactionsQuery,
} from './transaction-schemas.js';
import { viewTask, viewTransaction } from './transaction-view.js';

const tags = ['deployments'];

const SNAPSHOTS = [
  ['deployment_info', 'deployment_info', 'getDeploymentInfo', 'the data that tasks saw'],
  ['settings', 'cluster_settings', 'getTransactionSettings', "the cluster's settings"],
  ['network_configuration', 'network_configuration', 'getTransactionNetworks', "the cluster's networks"],
] as const;

/** What runs of graphs did. */
export const transactionRoutes: RouteGroup = async (app, { operations: { transactions } }) => {
  const lists = [
    {
      path: 'transactions',
      thing: 'Transaction',
      view: viewTransaction,
      visible: false,
      list: 'List runs of graphs and their parts, hidden ones too',
      remove: 'Delete a run of graphs with its history, for good',
    },
    {
      path: 'tasks',
      thing: 'Task',
      view: viewTask,
      visible: true,
      list: 'List runs of graphs and their parts, without hidden ones',
      remove: 'Hide a run of graphs from the list of tasks',
    },
  ] as const;

  for (const { path, thing, view, visible, list, remove } of lists) {
    app.get(`/${path}/`, {
      schema: {
        operationId: `list${thing}s`,
        summary: list,
        tags,
        querystring: transactionsQuery,
        response: { 200: transactionListSchema, ...problems(400, 503) },
      },
      handler: async ({ query: { cluster_id, statuses, transaction_types } }) => {
        const filter = given({
          cluster: cluster_id,
          statuses: listIn(statuses),
          names: listIn(transaction_types),
          visible,
        });
        return (await transactions.list(filter)).map(view);
      },
    });

    app.get(`/${path}/:id`, {
      schema: {
        operationId: `get${thing}`,
        summary: 'Show a run of graphs, or one graph of it',
        tags,
        params: transactionParams,
        response: { 200: transactionSchema, ...problems(400, 404, 503) },
      },
      handler: async ({ params }) => view(await transactions.get(params.id)),
    });

    app.delete(`/${path}/:id`, {
      schema: {
        operationId: `delete${thing}`,
        summary: remove,
        tags,
        params: transactionParams,
        querystring: deleteQuery,
        response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 503) },
      },
      handler: async (request, reply) => {
        const force = isSet(request.query.force);
        await transactions[visible ? 'hide' : 'delete'](request.params.id, { force }, actorOf(request));
        return reply.code(204).send();
      },
    });
  }

  for (const [path, kind, operationId, what] of SNAPSHOTS) {
    app.get(`/transactions/:id/${path}`, {
      schema: {
        operationId,
        summary: `Show ${what} as it was when the graph was planned`,
        tags,
        params: transactionParams,
        response: { 200: snapshotSchema, ...problems(400, 404, 503) },
      },
      handler: async ({ params }, reply) => readyText(reply, JSON_TYPE, await transactions.snapshot(params.id, kind)),
    });
  }

  app.get('/transactions/:id/plan', {
    schema: {
      operationId: 'getTransactionPlans',
      summary: 'Show what the planned graphs of a run set out to do, and why; also of a dry run',
      tags,
      params: transactionParams,
      response: { 200: transactionPlansSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ params }, reply) => {
      const plans = (await transactions.plans(params.id)).map(
        ({ graph, explanation }) =>
          `{"transaction":${graph.id},"graph_type":${JSON.stringify(graph.graphType)},"plan":${explanation}}`,
      );
      return readyText(reply, JSON_TYPE, `{"transaction":${params.id},"plans":[${plans.join(',')}]}`);
    },
  });

  app.get('/transactions/:id/deployment_history/', {
    schema: {
      operationId: 'getDeploymentHistory',
      summary: 'Show how each task went on each node',
      tags,
      params: transactionParams,
      querystring: historyQuery,
      response: {
        200: {
          description: 'The records; as CSV where `Accept` is `text/csv`.',
          content: { 'application/json': { schema: historySchema }, 'text/csv': { schema: z.string() } },
        },
        ...problems(400, 404, 503),
      },
    },
    handler: async (request, reply) => {
      const { nodes, statuses, tasks_names, include_summary } = request.query;
      const filter = given({
        nodes: listIn(nodes),
        statuses: listIn(statuses),
        tasks: listIn(tasks_names),
        includeSummary: isSet(include_summary),
      });
      const records = await transactions.history(request.params.id, filter);
      const accept = request.headers.accept ?? '';
      if (!accept.includes('application/json') && accept.includes('text/csv')) {
        return readyText(reply, 'text/csv; charset=utf-8', csv(records));
      }
      return readyText(reply, JSON_TYPE, JSON.stringify(records));
    },
  });
};

const COLUMNS = ['task_name', 'node_id', 'status', 'type', 'time_start', 'time_end'] as const;

/** RFC 4180, with the columns of the reference. */
const csv = (records: readonly HistoryRecord[]): string =>
  [COLUMNS, ...records.map((record) => COLUMNS.map((column) => record[column] ?? ''))]
    .map((row) => `${row.map(csvField).join(',')}\r\n`)
    .join('');

function csvField(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
