import { WorkflowNotFoundError } from '@temporalio/client';
import { given } from '../../core/data/given.ts';
import { isTransactionOpen, type TransactionStatus } from '../../core/words.ts';
import { releaseClaim } from '../../runs/claims.ts';
import { findExecution } from '../../runs/find-execution.ts';
import type { RunTransactions, SnapshotKind, TransactionFilter, TransactionRecord } from '../../store/index.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { requestOfTemporal } from '../temporal-calls.ts';
import { type HistoryFilter, type HistoryRecord, type HistoryWord, taskHistory, wordOfRuns } from './task-history.ts';
import { type ShownTransaction, withProgress } from './transaction-progress.ts';

interface TransactionListFilter {
  readonly cluster?: number;
  readonly statuses?: readonly TransactionStatus[];
  readonly names?: readonly string[];
  /** Without hidden transactions: earlier runs of a cluster, and those that users removed from their lists. */
  readonly visible?: boolean;
}

/** Every transaction name in Fuel. */
const NAMES = [
  'super',
  'deploy',
  'deployment',
  'provision',
  'stop_deployment',
  'reset_environment',
  'reset_nodes',
  'remove_keys',
  'remove_ironic_bootstrap',
  'update',
  'spawn_vms',
  'node_deletion',
  'cluster_deletion',
  'remove_images',
  'check_before_deployment',
  'check_networks',
  'verify_networks',
  'check_dhcp',
  'verify_network_connectivity',
  'multicast_verification',
  'check_repo_availability',
  'check_repo_availability_with_setup',
  'dry_run_deployment',
  'dump',
  'capacity_log',
  'create_stats_user',
  'remove_stats_user',
  'update_dnsmasq',
];

/** Graph runs and their parts as Fuel shows them. @throws `invalid`, `not-found` in Fuel's terms. */
export class TransactionOperations extends Service {
  /** By id. */
  async list({ cluster, statuses, names, visible }: TransactionListFilter): Promise<readonly ShownTransaction[]> {
    const filter: TransactionFilter = {
      ...given({ clusterId: cluster, statuses }),
      ...(names === undefined ? {} : { names: namesOf(names) }),
      ...(visible ? { hidden: false } : {}),
    };
    return Promise.all((await this.store.transactions.list(filter)).map((one) => withProgress(this.store, one)));
  }
  /** @throws `not-found` for a cluster that neither exists nor has runs */
  async checkCluster(cluster: number): Promise<void> {
    if ((await this.store.transactions.list({ clusterId: cluster })).length === 0)
      await this.store.clusters.brief(cluster);
  }
  async get(id: number): Promise<ShownTransaction> {
    return withProgress(this.store, await this.store.transactions.get(id));
  }
  /** Deletes it with everything that belongs to it. An open one needs `force`, which terminates its workflow. */
  async delete(id: number, { force }: { readonly force: boolean }, actor: string): Promise<void> {
    const found = await this.#checkDeletable(id, force);
    if (force && found.run.id === id) await this.#terminate(found);
    await this.store.transactions.delete(id, { force });
    await this.audit(actor, 'transaction.delete', `transaction/${id}`);
  }
  /** Hides it from lists of current work, without deleting it. */
  async hide(id: number, { force }: { readonly force: boolean }, actor: string): Promise<void> {
    await this.#checkDeletable(id, force);
    await this.store.transactions.hide(id);
    await this.audit(actor, 'transaction.hide', `transaction/${id}`);
  }
  /** JSON text of the configuration in effect when the graph was planned; for a run, of its newest planned graph. */
  async snapshot(id: number, kind: SnapshotKind): Promise<string> {
    const { run, graphs } = await this.store.transactions.getRun(id);
    const candidates = run.id === id ? [run, ...graphs.toReversed()] : [{ id }];
    for (const one of candidates) {
      const text = await this.store.transactions.getSnapshot(one.id, kind);
      if (text !== undefined) return text;
    }
    throw problem('not-found', `Transaction ${id} has no ${kind.replaceAll('_', ' ')}`, {
      hint: 'It is stored when a graph is planned. This graph was not planned, or its plan was refused.',
    });
  }
  /** Results of the tasks, in the words of runs. */
  tasks(id: number, filter: HistoryFilter): Promise<readonly HistoryRecord[]> {
    return taskHistory(this.store, id, filter, wordOfRuns);
  }
  /** The same in other words. */
  tasksIn<Word extends string>(
    wordOf: HistoryWord<Word>,
    id: number,
    filter: HistoryFilter<Word>,
  ): Promise<readonly HistoryRecord<Word>[]> {
    return taskHistory(this.store, id, filter, wordOf);
  }
  /** JSON texts of the plans of a graph, or of all planned graphs of a run, with reasons; each in pieces. */
  async plans(
    id: number,
  ): Promise<readonly { readonly graph: TransactionRecord; readonly explanation: AsyncIterable<string> }[]> {
    const { run, graphs } = await this.store.transactions.getRun(id);
    const wanted = (run.id === id ? graphs : graphs.filter((graph) => graph.id === id)).filter(
      ({ planHash }) => planHash !== null,
    );
    return Promise.all(
      wanted.map(async (graph) => ({ graph, explanation: await this.store.plans.getExplanation(graph.planHash!) })),
    );
  }

  async #checkDeletable(id: number, force: boolean): Promise<RunTransactions> {
    const found = await this.store.transactions.getRun(id);
    const asked = found.run.id === id ? found.run : found.graphs.find((graph) => graph.id === id)!;
    if (!force && isOpen(asked)) {
      throw problem('invalid', 'You cannot delete running task manually', {
        hint: 'Stop the run first; force=1 terminates its workflow immediately.',
      });
    }
    return found;
  }

  /** Terminates a run's workflow, so that nothing writes to its transaction any more. */
  async #terminate({ run }: RunTransactions): Promise<void> {
    if (!isOpen(run) || run.workflowId === null) return;
    const { workflowId, temporalRunId, clusterId } = run;
    const { client } = this.temporal;
    await requestOfTemporal(this.temporal, async () => {
      const now = (await findExecution(client, workflowId, temporalRunId))?.runId;
      if (now === undefined) return;
      await client.workflow.getHandle(workflowId, now).terminate('its transaction was deleted by force');
    }).catch((error) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
    if (clusterId === null) return;
    const subject = { cluster: clusterId };
    const holder = await this.store.claims.holder(subject);
    if (holder?.workflowId === workflowId) await releaseClaim(this.store, subject, holder);
  }
}

const isOpen = ({ status }: TransactionRecord): boolean => isTransactionOpen(status);

function namesOf(given: readonly string[]): readonly string[] {
  const odd = given.filter((name) => !NAMES.includes(name));
  if (odd.length === 0) return given;
  throw problem('invalid', `Transaction types parameter could only be one of: ${NAMES.join(', ')}`, {
    hint: `Unknown: ${odd.slice(0, 10).join(', ').slice(0, 200)}.`,
  });
}
