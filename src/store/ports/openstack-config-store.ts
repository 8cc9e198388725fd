import type { Stored } from '../tables.ts';
import type { JsonFields } from './page.ts';

/** OpenStack configuration by file, for a cluster, one of its roles, or one of its nodes. */
export type OpenstackConfigRecord = Stored<'openstackConfig'>;

export interface NewOpenstackConfig {
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

/** Earlier configurations are kept, inactive. */
export interface OpenstackConfigStore {
  /** Stores configurations, all or none; each replaces the active one for the same cluster, role or node. @throws `not-found` */
  create(configs: readonly NewOpenstackConfig[]): Promise<readonly OpenstackConfigRecord[]>;
  /** @throws `not-found` */
  get(id: number): Promise<OpenstackConfigRecord>;
  /** By id, ascending. */
  list(filter?: OpenstackConfigFilter): Promise<readonly OpenstackConfigRecord[]>;
  /** Makes one inactive. @throws `not-found` */
  disable(id: number): Promise<void>;
}
