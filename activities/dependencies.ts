import type { Planner } from '../src/clusters/planning/index.js';
import type { MachineContext } from '../src/maas/index.js';
import type { IsOpen, Store } from '../src/store/index.js';

/** What the activities of a worker process share; made once by worker/. */
export interface ActivityDependencies {
  readonly store: Store;
  /** Throws when MAAS is not configured: a run then fails with what to set. */
  readonly maas: () => MachineContext;
  /** Decides whose claims may be taken over. */
  readonly isOpen: IsOpen;
  /** Custom search attributes that the server knows. */
  readonly searchAttributes: () => Promise<readonly string[]>;
  readonly settings: ActivitySettings;
  /**
   * cloud-init user data of one node. `wish` names run and attempt: the same wish gets the same answer, as an activity
   * may be repeated when the machine has it already. Absent: `settings.user_data` for all.
   */
  readonly userData?: (site: string, node: string, wish: string) => Promise<string | undefined>;
  /**
   * Ends what a node's agent was known by, since its machine is given back or installed anew in this moment.
   *
   * @param by what is done to the machine: after a release no token of the node is good any more, either
   */
  readonly endIdentity?: (site: string, node: string, by: 'release' | 'deploy') => Promise<void>;
  /** Makes plans of graphs, with users' helper functions. */
  readonly planner: Planner;
}

export interface ActivitySettings {
  /** Limit where the site's configuration gives none. */
  readonly max_parallel_nodes: number;
  readonly heartbeat_seconds: number;
  /** Series for nodes whose documents name none; absent: MAAS' own default. */
  readonly distro_series?: string;
  /** cloud-init user data for every deployed node. */
  readonly user_data?: string;
  /** Address under which nodes reach the orchestrator's host: {MASTER_IP} in the fields of tasks. */
  readonly master_ip?: string;
  /** How long a node whose agent does not answer is waited for; default 120. */
  readonly offline_wait_seconds?: number;
}
