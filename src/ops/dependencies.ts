import type { MachineContext } from '@sitewright/maas';
import type { Client, Connection } from '@temporalio/client';
import type { TaskLogs } from '../agent/output/task-logs.ts';
import type { Planner } from '../clusters/planning/index.ts';
import type { SecretProvider } from '../platform/secrets/secret-provider.ts';
import type { Store } from '../store/index.ts';
import type { Reader } from './reading/reader.ts';
import type { Rehearser } from './rehearsals/order.ts';
import type { TagExtension } from './tags/tag-extension.ts';

/** Dependencies of use cases; created once per process. */
export interface OpsDependencies {
  readonly store: Store;
  readonly temporal: TemporalAccess;
  /** Throws MaasConfigurationError where MAAS is not configured. */
  readonly maas: () => MachineContext;
  /** Plans graphs; by default in this thread, without users' helper functions. */
  readonly planner?: Planner;
  /** Reads user input; by default in this thread. */
  readonly reader?: Reader;
  /** Lives through runs in virtual time; absent: this process rehearses nothing. */
  readonly rehearser?: Rehearser;
  /** Address of the orchestrator's host for nodes: {MASTER_IP} in task fields. */
  readonly masterIp?: string;
  /** The setting `agent.master` is `allow`: graphs may have tasks on `master` that an agent runs. Absent: they are refused. */
  readonly masterAllowed?: boolean;
  /** The output of tasks; absent if none is kept here. */
  readonly taskLogs?: TaskLogs;
  /** Secrets that webhooks are signed with; absent: there are no webhooks. */
  readonly secrets?: SecretProvider;
  /** File with the receivers of notices: the setting `notices.receivers_file`. */
  readonly noticeReceivers?: string;
  /** Base address of Temporal's Web UI, without a trailing slash. */
  readonly temporalUiUrl?: string;
  /** Version of this program, recorded in the memo of runs. */
  readonly version?: string;
  /** The setting `deploy.distro_series`: of nodes whose documents name none. */
  readonly distroSeries?: string;
  /** Folder whose packages `sync` installs: the setting `packages.folder`. */
  readonly packagesFolder?: string;
  /** Modules from the setting `tags.extensions`: they may change the tags that nodes get with roles. */
  readonly tagExtensions?: () => Promise<readonly TagExtension[]>;
}

export interface TemporalAccess {
  readonly client: Client;
  readonly connection: Connection;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Stands before the names of this installation (`prefixed`). */
  readonly prefix?: string;
  readonly address: string;
  /** How many times the usual time limits of calls apply, for tests on loaded machines; default 1. */
  readonly patience?: number;
}
