import { Readable } from 'node:stream';
import { FUEL_TASK_STATUSES, transactionRoutes } from '../../../core/contracts/fuel/deployments.ts';
import type { PartOf } from '../../../core/contracts/route.ts';
import { causeText } from '../../../core/task-on-node.ts';
import { type TaskStatus, TRANSACTION_STATUSES, type TransactionStatus } from '../../../core/words.ts';
import type { HistoryRecord, Operations } from '../../../ops/index.ts';
import type { SnapshotKind } from '../../../store/index.ts';
import { RequestError } from '../../problems/transport-problem.ts';
import { actorOf } from '../../requests/actor.ts';
import { given } from '../../requests/given.ts';
import { type Asked, type Handlers, type RouteGroup, serve } from '../../serve.ts';
import { isSet, listIn } from '../request-parts.ts';
import { JSON_TYPE, readyText } from './ready-text.ts';
import {
  FUEL_STATUS_OF,
  type FuelWord,
  fuelTaskStatus,
  viewRecorded,
  viewTask,
  viewTransaction,
} from './transaction-view.ts';

type Routes = typeof transactionRoutes;

/** Results of graph runs. */
export const serveTransactions: RouteGroup = async (app, { operations: { transactions } }) => {
  const filterOf = (query: PartOf<Routes['GET /transactions/'], 'query'>) =>
    given({
      cluster: query.cluster_id,
      names: listIn(query.transaction_types),
    });
  const listed = (query: PartOf<Routes['GET /transactions/'], 'query'>, visible: boolean) =>
    transactions.list({ ...filterOf(query), ...given({ statuses: statusesIn(query.statuses) }), visible });
  const remove = (how: 'delete' | 'hide') => async (request: Asked<Routes['DELETE /transactions/:id']>) =>
    transactions[how](request.params.id, { force: isSet(request.query.force) }, actorOf(request));
  const snapshot =
    (kind: SnapshotKind): Handlers<Routes>['GET /transactions/:id/settings'] =>
    async ({ params }, reply) =>
      readyText(reply, JSON_TYPE, await transactions.snapshot(params.id, kind));

  serve(app, transactionRoutes, {
    'GET /transactions/': async ({ query }) => (await listed(query, false)).map(viewTransaction),
    async 'GET /history'({ query }) {
      const statuses = wordsIn(query.statuses, TRANSACTION_STATUSES, 'could only be one of', 'Unknown');
      const found = await transactions.list({ ...filterOf(query), ...given({ statuses }) });
      if (found.length === 0 && query.cluster_id !== undefined) await transactions.checkCluster(query.cluster_id);
      return found.map(viewRecorded);
    },
    'GET /transactions/:id': async ({ params }) => viewTransaction(await transactions.get(params.id)),
    'DELETE /transactions/:id': remove('delete'),
    'GET /tasks/': async ({ query }) => (await listed(query, true)).map(viewTask),
    'GET /tasks/:id': async ({ params }) => viewTask(await transactions.get(params.id)),
    'DELETE /tasks/:id': remove('hide'),
    'GET /transactions/:id/deployment_info': snapshot('deployment_info'),
    'GET /transactions/:id/settings': snapshot('cluster_settings'),
    'GET /transactions/:id/network_configuration': snapshot('network_configuration'),
    async 'GET /transactions/:id/plan'({ params }, reply) {
      const pieces = plansInPieces(params.id, await transactions.plans(params.id));
      return reply.type(JSON_TYPE).send(Readable.from(pieces, { objectMode: false }));
    },
    async 'GET /transactions/:id/tasks'({ params, query }, reply) {
      // The schema lets no other words through.
      const statuses = listIn(query.statuses) as readonly TaskStatus[] | undefined;
      const records = await transactions.tasks(params.id, given({ ...taskFilterOf(query), statuses }));
      return readyText(reply, JSON_TYPE, JSON.stringify(records));
    },
    async 'GET /transactions/:id/deployment_history/'(request, reply) {
      const filter = given({ ...taskFilterOf(request.query), statuses: fuelStatusesIn(request.query.statuses) });
      const records = await transactions.tasksIn(fuelTaskStatus, request.params.id, filter);
      const accept = request.headers.accept ?? '';
      if (!accept.includes('application/json') && accept.includes('text/csv')) {
        return readyText(reply, 'text/csv; charset=utf-8', csv(records));
      }
      return readyText(reply, JSON_TYPE, JSON.stringify(records.map(withCauseText)));
    },
  });
};

async function* plansInPieces(id: number, plans: Awaited<ReturnType<Operations['transactions']['plans']>>) {
  yield `{"transaction":${id},"plans":[`;
  for (const [at, { graph, explanation }] of plans.entries()) {
    const about = `"transaction":${graph.id},"graph_type":${JSON.stringify(graph.graphType)}`;
    yield `${at === 0 ? '' : ','}{${about},"plan":`;
    yield* explanation;
    yield '}';
  }
  yield ']}';
}

const withCauseText = ({ root_cause, ...record }: HistoryRecord<FuelWord>) =>
  root_cause === undefined ? record : { ...record, root_cause: causeText(root_cause) };

const taskFilterOf = (query: PartOf<Routes['GET /transactions/:id/tasks'], 'query'>) => ({
  nodes: listIn(query.nodes),
  tasks: listIn(query.tasks_names),
  includeSummary: isSet(query.include_summary),
});

/** Fuel's statuses, in the order of its refusal. */
const STATUS_WORDS = ['pending', 'ready', 'running', 'error'] as const;

/** Our statuses that Fuel shows as one of those in a list with commas. @throws RequestError in Fuel's words */
function statusesIn(text: string | undefined): readonly TransactionStatus[] | undefined {
  const wanted = wordsIn(text, STATUS_WORDS, 'could only be one of', 'Unknown');
  return wanted && TRANSACTION_STATUSES.filter((status) => wanted.includes(FUEL_STATUS_OF[status]));
}

/** Fuel's statuses of tasks in a list with commas. @throws RequestError in Fuel's words */
const fuelStatusesIn = (text: string | undefined): readonly FuelWord[] | undefined =>
  wordsIn(text, FUEL_TASK_STATUSES, 'could be only', 'Not a status');

function wordsIn<Word extends string>(
  text: string | undefined,
  known: readonly Word[],
  refusal: string,
  odds: string,
): readonly Word[] | undefined {
  const given = listIn(text);
  const odd = given?.filter((one) => !(known as readonly string[]).includes(one)) ?? [];
  if (odd.length === 0) return given as readonly Word[] | undefined;
  throw new RequestError({
    code: 'invalid',
    message: `Statuses parameter ${refusal}: ${known.join(', ')}`,
    hint: `${odds}: ${odd.slice(0, 10).join(', ').slice(0, 200)}.`,
  });
}

const COLUMNS = ['task_name', 'node_id', 'status', 'type', 'time_start', 'time_end'] as const;

/** RFC 4180, with the columns of the reference. */
const csv = (records: readonly HistoryRecord<FuelWord>[]): string =>
  [COLUMNS, ...records.map((record) => COLUMNS.map((column) => record[column] ?? ''))]
    .map((row) => `${row.map(csvField).join(',')}\r\n`)
    .join('');

function csvField(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
