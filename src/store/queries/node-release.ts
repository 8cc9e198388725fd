import type { Transaction } from 'kysely';
import { hasSystem } from '../../core/node-system.ts';
import type { Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { dropContents } from './contents.ts';

/**
 * Removes nodes, by default all, from their cluster with everything they had as members, ready for use in another.
 *
 * @param erased their systems were erased
 */
export async function releaseNodes(
  transaction: Transaction<Tables>,
  clusterId: number,
  ids?: readonly number[],
  erased = false,
): Promise<void> {
  const members = await transaction
    .selectFrom('node')
    .select(['id', 'status', 'errorType'])
    .where('clusterId', '=', clusterId)
    .execute();
  const wanted = ids === undefined ? members : members.filter(({ id }) => ids.includes(id));
  for (const status of ['provisioned', 'discover'] as const) {
    const left = wanted.filter((node) => (hasSystem(node) && !erased) === (status === 'provisioned'));
    await release(
      transaction,
      clusterId,
      left.map(({ id }) => id),
      status,
    );
  }
}

async function release(
  transaction: Transaction<Tables>,
  clusterId: number,
  ids: readonly number[],
  status: 'provisioned' | 'discover',
): Promise<void> {
  for (const batch of inBatches(ids)) {
    await forgetMembership(transaction, clusterId, batch);
    await transaction
      .updateTable('node')
      .set({
        clusterId: null,
        roles: '[]',
        pendingRoles: '[]',
        roleTags: '{}',
        primaryRoles: '[]',
        status,
        errorType: null,
        errorMsg: null,
        pendingAddition: 0,
        pendingDeletion: 0,
        groupId: null,
        progress: 0,
        updatedAt: new Date().toISOString(),
      })
      .where('clusterId', '=', clusterId)
      .where('id', 'in', batch)
      .execute();
  }
}

/** Deletes the nodes' tags, primary tags and task states in the cluster. */
export async function forgetMembership(
  transaction: Transaction<Tables>,
  clusterId: number,
  ids: readonly number[],
): Promise<void> {
  await transaction
    .deleteFrom('tagNodeAssignment')
    .where('clusterId', '=', clusterId)
    .where('nodeId', 'in', ids)
    .execute();
  await transaction
    .deleteFrom('clusterPrimary')
    .where('clusterId', '=', clusterId)
    .where('nodeId', 'in', ids)
    .execute();
  await forgetTaskStates(transaction, clusterId, ids);
}

/** For a transaction that holds the row of the cluster. */
export async function forgetTaskStates(
  transaction: Transaction<Tables>,
  clusterId: number,
  ids: readonly number[],
): Promise<void> {
  const states = await transaction
    .deleteFrom('taskState')
    .where('clusterId', '=', clusterId)
    .where('node', 'in', ids.map(String))
    .returning('content')
    .execute();
  await dropContents(
    transaction,
    states.map((state) => state.content),
  );
}
