import type { Client, Connection } from '@temporalio/client';
import type { TaskLogs } from '../agent/logs/index.js';
import type { Planner } from '../clusters/planning/index.js';
import type { MachineContext } from '../maas/index.js';
import type { Store } from '../store/index.js';
import type { TagExtension } from './tags/tag-extension.js';

/** What use cases work with; made once a process. */
export interface OpsDependencies {
  readonly store: Store;
  readonly temporal: TemporalAccess;
  /** Throws MaasConfigurationError where MAAS is not configured. */
  readonly maas: () => MachineContext;
  /** Makes plans of graphs; absent: they are made in this thread, without users' helper functions. */
  readonly planner?: Planner;
  /** Address under which nodes reach the orchestrator's host: {MASTER_IP} in the fields of tasks. */
  readonly masterIp?: string;
  /** The output of tasks; absent: none is kept here. */
  readonly taskLogs?: TaskLogs;
  /** Base address of Temporal's Web UI, without a trailing slash. */
  readonly temporalUiUrl?: string;
  /** Of this program; kept in the memo of the runs it starts. */
  readonly version?: string;
  /** The setting `deploy.distro_series`: of nodes whose documents name none. */
  readonly distroSeries?: string;
  /** Folder whose packages `sync` installs, as the setting `packages.folder` names it. */
  readonly packagesFolder?: string;
  /** What the setting `tags.extensions` names: may change the tags that nodes get with roles. */
  readonly tagExtensions?: () => Promise<readonly TagExtension[]>;
}

export interface TemporalAccess {
  readonly client: Client;
  readonly connection: Connection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly address: string;
}
