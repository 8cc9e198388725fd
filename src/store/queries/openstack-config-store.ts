import { InputCheck } from '../input.ts';
import type {
  NewOpenstackConfig,
  OpenstackConfigFilter,
  OpenstackConfigRecord,
  OpenstackConfigStore,
} from '../ports/openstack-config-store.ts';
import type { Session } from '../session.ts';
import { matching } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';
import { assertRow, holdRow, insertRow, readRow, updateRow } from './identified-row.ts';

/** OpenstackConfigStore on either database. Creating locks the cluster's row, so that one of each kind is active. */
export class SqlOpenstackConfigStore implements OpenstackConfigStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  create(configs: readonly NewOpenstackConfig[]): Promise<readonly OpenstackConfigRecord[]> {
    const createdAt = new Date().toISOString();
    const check = new InputCheck();
    const rows = configs.map((config) => newRow('openstackConfig', check, config, { createdAt, isActive: true }));
    check.done();
    return this.#session.write(async (transaction) => {
      const stored: OpenstackConfigRecord[] = [];
      for (const row of rows) {
        await holdRow(transaction, 'cluster', row.clusterId);
        const { clusterId, nodeId = null, nodeRole = null } = row;
        if (nodeId !== null) await assertRow(transaction, 'node', nodeId);
        await transaction
          .updateTable('openstackConfig')
          .set({ isActive: 0 })
          .where('clusterId', '=', clusterId)
          .where('nodeId', nodeId === null ? 'is' : '=', nodeId)
          .where('nodeRole', nodeRole === null ? 'is' : '=', nodeRole)
          .execute();
        stored.push(recordOf('openstackConfig', await insertRow(transaction, 'openstackConfig', row)));
      }
      return stored;
    });
  }

  get(id: number): Promise<OpenstackConfigRecord> {
    return this.#session.read(async (db) => recordOf('openstackConfig', await readRow(db, 'openstackConfig', id)));
  }

  list({ clusterId, nodeId, nodeRole, isActive }: OpenstackConfigFilter = {}) {
    return this.#session.read(async (db) => {
      const wanted = { clusterId, nodeId, nodeRole, isActive: isActive === undefined ? undefined : Number(isActive) };
      const query = matching(db.selectFrom('openstackConfig').selectAll(), wanted);
      return (await query.orderBy('id').execute()).map((row) => recordOf('openstackConfig', row));
    });
  }

  disable(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await readRow(transaction, 'openstackConfig', id);
      await updateRow(transaction, 'openstackConfig', id, { isActive: 0 });
    });
  }
}
