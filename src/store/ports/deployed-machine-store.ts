import type { New, Stored } from '../tables.ts';

/** A node's machine as it was deployed. */
export type DeployedMachine = Stored<'deployedMachine'>;

/** What runs deployed, node by node, to compare with what MAAS has later. */
export interface DeployedMachineStore {
  /** Replaces what is recorded of the node. @throws `not-found` for the site. */
  put(machine: New<'deployedMachine'>): Promise<void>;
  get(site: string, node: string): Promise<DeployedMachine | undefined>;
  /** By node name, ascending. */
  list(site: string): Promise<readonly DeployedMachine[]>;
  /** After its machine was released. */
  forget(site: string, node: string): Promise<void>;
}
