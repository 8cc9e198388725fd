import type { Kysely } from 'kysely';
import type { TaskOnNode } from '../../core/task-on-node.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { dropContents, keepContent, packContent, readContents, unpackText } from './contents.ts';
import { assertRow, lockRow } from './identified-row.ts';

/** How a graph left its tasks: those that succeeded, all with the same state, and those of which only their node knows. */
interface TaskStateWrite {
  readonly clusterId: number;
  /**
   * JSON text of a ClusterState of src/graph: `{common, nodes}`. Stored unchanged, so that numbers keep their spelling.
   */
  readonly state: string;
  /** ISO 8601. Of two writes for the same task and node, the one with the later time wins. */
  readonly at: string;
  /** `digest`: of what the task did. */
  readonly tasks: readonly (TaskOnNode & { readonly digest?: string | undefined })[];
  /** Tasks that began and did not succeed: what they left is neither this state nor an earlier one, which is forgotten. */
  readonly begun?: readonly TaskOnNode[];
}

/** Old states of a cluster. */
export interface SavedStates {
  /** JSON text of each state by its name (its hash). Tasks share equal texts. */
  readonly states: Readonly<Record<string, string>>;
  /** Name of the state with which the task last succeeded on the node. */
  readonly tasks: readonly {
    readonly task: string;
    readonly node: string;
    readonly state: string;
    readonly at: string;
    readonly digest: string;
  }[];
}

/**
 * The states that `changed()` of the next run compares with: for each (task, node), the state of its last success.
 *
 * Every write locks the cluster's row first.
 */
export class TaskStateStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Any number of tasks, all or none. May be repeated. @throws `not-found` for the cluster. */
  async record(write: TaskStateWrite): Promise<void> {
    const { clusterId } = write;
    const check = new InputCheck();
    const at = check.time('at', write.at);
    const keys = (name: string, list: readonly TaskOnNode[]) =>
      list.map(({ task, node }, index) => ({
        node: check.key(`${name}[${index}].node`, node),
        task: check.key(`${name}[${index}].task`, task),
      }));
    const tasks = keys('tasks', write.tasks).map((key, index) => ({
      ...key,
      digest: write.tasks[index]!.digest ?? '',
    }));
    const begun = keys('begun', write.begun ?? []);
    check.done();
    const content = await packContent(write.state);
    const rows = [...new Map(tasks.map((row) => [JSON.stringify([row.node, row.task]), row])).values()].map((row) => ({
      clusterId,
      ...row,
      content: content.hash,
      at,
    }));
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'cluster', clusterId);
      if (rows.length + begun.length === 0) return;
      const before = await contentsOf(transaction, clusterId);
      await keepContent(transaction, content);
      for (const node of new Set(begun.map((one) => one.node))) {
        for (const batch of inBatches(begun.flatMap((one) => (one.node === node ? [one.task] : [])))) {
          await transaction
            .deleteFrom('taskState')
            .where('clusterId', '=', clusterId)
            .where('node', '=', node)
            .where('task', 'in', batch)
            .where('at', '<=', at)
            .execute();
        }
      }
      for (const batch of inBatches(rows)) {
        await transaction
          .insertInto('taskState')
          .values(batch)
          .onConflict((on) =>
            on
              .columns(['clusterId', 'node', 'task'])
              .doUpdateSet((eb) => ({ content: content.hash, at, digest: eb.ref('excluded.digest') }))
              .where('taskState.at', '<=', at),
          )
          .execute();
      }
      const after = await contentsOf(transaction, clusterId);
      const gone = [...before, content.hash].filter((hash) => !after.has(hash));
      if (gone.length > 0) await dropContents(transaction, gone);
    });
  }

  /** By task and node; empty for a cluster without states. @throws `not-found` for the cluster. */
  async read(clusterId: number): Promise<SavedStates> {
    const { tasks, contents } = await this.#session.read(async (db) => {
      await assertRow(db, 'cluster', clusterId);
      const rows = await db
        .selectFrom('taskState')
        .select(['task', 'node', 'content as state', 'at', 'digest'])
        .where('clusterId', '=', clusterId)
        .orderBy('task')
        .orderBy('node')
        .execute();
      const hashes = [...new Set(rows.map((row) => row.state))].sort();
      return { tasks: rows, contents: await readContents(db, hashes) };
    });
    const texts = await Promise.all(contents.map(async ({ hash, bytes }) => [hash, await unpackText(bytes)] as const));
    return { states: Object.fromEntries(texts), tasks };
  }

  /** The digest of each task that succeeded on a node, without the states. */
  digests(clusterId: number): Promise<readonly (TaskOnNode & { readonly digest: string })[]> {
    return this.#session.read((db) =>
      db
        .selectFrom('taskState')
        .select(['task', 'node', 'digest'])
        .where('clusterId', '=', clusterId)
        .orderBy('task')
        .orderBy('node')
        .execute(),
    );
  }
}

async function contentsOf(db: Kysely<Tables>, clusterId: number): Promise<Set<string>> {
  const rows = await db
    .selectFrom('taskState')
    .select('content')
    .distinct()
    .where('clusterId', '=', clusterId)
    .execute();
  return new Set(rows.map((row) => row.content));
}
