import type { Transaction } from 'kysely';
import type { Tables } from '../tables.js';
import { inBatches } from './batches.js';
import { dropContents } from './contents.js';

/** Removes nodes, by default all, from their cluster with everything they had as members. */
export async function releaseNodes(
  transaction: Transaction<Tables>,
  clusterId: number,
  ids?: readonly number[],
): Promise<void> {
  const wanted =
    ids ??
    (await transaction.selectFrom('node').select('id').where('clusterId', '=', clusterId).execute()).map(
      ({ id }) => id,
    );
  for (const batch of inBatches(wanted)) {
    await forgetMembership(transaction, clusterId, batch);
    await transaction
      .updateTable('node')
      .set({
        clusterId: null,
        roles: '[]',
        pendingRoles: '[]',
        roleTags: '{}',
        primaryRoles: '[]',
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
  await transaction
    .deleteFrom('openstackConfig')
    .where('clusterId', '=', clusterId)
    .where('nodeId', 'in', ids)
    .execute();
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
