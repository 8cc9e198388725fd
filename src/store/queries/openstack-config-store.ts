import { InputCheck } from '../input.ts';
import type { JsonFields } from '../page.ts';
import type { Session } from '../session.ts';
import type { Stored } from '../tables.ts';
import { matching } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';
import { assertRow, holdRow, insertRow, readRow, updateRow } from './identified-row.ts';

/** OpenStack configuration by file, for a cluster, one of its roles, or one of its nodes. */
export type OpenstackConfigRecord = Stored<'openstackConfig'>;

interface NewOpenstackConfig {
  readonly clusterId: number;
  /** At most one of the two; neither: for the whole cluster. */
  readonly nodeId?: number;
  readonly nodeRole?: string;
  readonly configuration: JsonFields;
}

export interface OpenstackConfigFilter {
  readonly clusterId?: number;
  readonly nodeId?: readonly number[];
  readonly nodeRole?: string;
  readonly isActive?: boolean;
}

/**
 * Earlier configurations are kept, inactive.
 *
 * Creating locks the cluster's row, so that one of each kind is active.
 */
export class OpenstackConfigStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Stores configurations, all or none; each replaces the active one for the same cluster, role or node. @throws `not-found` */
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

  /** @throws `not-found` */
  get(id: number): Promise<OpenstackConfigRecord> {
    return this.#session.read(async (db) => recordOf('openstackConfig', await readRow(db, 'openstackConfig', id)));
  }

  /** By id, ascending. */
  list({
    clusterId,
    nodeId,
    nodeRole,
    isActive,
  }: OpenstackConfigFilter = {}): Promise<readonly OpenstackConfigRecord[]> {
    return this.#session.read(async (db) => {
      const wanted = { clusterId, nodeId, nodeRole, isActive: isActive === undefined ? undefined : Number(isActive) };
      const query = matching(db.selectFrom('openstackConfig').selectAll(), wanted);
      return (await query.orderBy('id').execute()).map((row) => recordOf('openstackConfig', row));
    });
  }

  /** Makes one inactive. @throws `not-found` */
  disable(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await readRow(transaction, 'openstackConfig', id);
      await updateRow(transaction, 'openstackConfig', id, { isActive: 0 });
    });
  }
}
