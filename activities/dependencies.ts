import type { MachineContext } from '@sitewright/maas';
import { activityInfo } from '@temporalio/activity';
import type { Planner } from '../src/clusters/planning/index.ts';
import type { ClusterSources } from '../src/clusters/sources.ts';
import { given } from '../src/core/data/given.ts';
import { SURELY_WAITS_MS } from '../src/core/run/opening.ts';
import type { LoadedSite, SourceFile } from '../src/documents/index.ts';
import type { GitLimits } from '../src/platform/git/run-git.ts';
import type { SecretProvider } from '../src/platform/secrets/secret-provider.ts';
import type { AnnounceEnd } from '../src/runs/life.ts';
import type { RunLookups } from '../src/runs/run-lookups.ts';
import type { Store } from '../src/store/index.ts';
import type { AskHost } from './check/ask-host.ts';
import type { OpenedWithin } from './contract.ts';
import type { SilenceReports } from './run/maas-silence.ts';

/**
 * Dependencies that all activities of a worker process share. Created once by worker/. The lookups decide who may change
 * what, whose claims may be taken over, and whether a run starts anything new (fencing.ts).
 */
export interface ActivityDependencies extends RunLookups {
  readonly store: Store;
  /** Throws when MAAS is not configured. The run then fails with a message about the missing settings. */
  readonly maas: () => MachineContext;
  /** Custom search attributes that runs may set. */
  readonly searchAttributes: () => Promise<readonly string[]>;
  readonly settings: ActivitySettings;
  /**
   * Returns the cloud-init user data of one node. `deployment` identifies run and attempt: the same id returns the same
   * data, because an activity may be repeated when the machine has the data already. Absent: `settings.user_data` for all.
   */
  readonly userData?: (site: string, node: string, deployment: string) => Promise<string | undefined>;
  /**
   * Revokes the identity of a node's agent, because its machine is being released or reinstalled.
   *
   * @param by the operation on the machine: a release also invalidates all tokens of the node
   */
  readonly endIdentity?: (site: string, node: string, by: 'release' | 'deploy') => Promise<void>;
  /** Reports to runs since when MAAS has not answered. Absent: only heartbeats do. */
  readonly silence?: SilenceReports;
  /** The structured log of the process; reports of runs that close are written there, in full. Absent: nowhere. */
  readonly log?: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Reads repositories for sites that follow a branch. Absent: such a run fails. */
  readonly git?: {
    readonly limits: GitLimits;
    readonly secrets: SecretProvider;
    /** Reads foreign documents in another thread and within limits. Rejects with a `RefusalError`. */
    readonly readSite: (files: readonly SourceFile[]) => Promise<LoadedSite>;
  };
  /** Where notices about runs are sent. Absent: nowhere. */
  readonly notices?: NoticeSettings;
  /** Sends the notices of runs that were terminated. Absent: there are none. */
  readonly announceEnd?: AnnounceEnd;
  /** Asks hosts on behalf of checks. Absent: no host is asked. */
  readonly askHost?: AskHost;
  /** The address of each machine for which MAAS has none, where machines are rehearsed. Absent: it has none. */
  readonly rehearsedAddress?: string;
  /** Plans graphs, including users' helper functions. */
  readonly planner: Planner;
  /** Lets tag extensions decide on the tags that changed roles give. Absent: there are none. */
  readonly allocateTags?: (sources: ClusterSources) => Promise<ClusterSources | { readonly refused: string }>;
}

interface NoticeSettings {
  /** Lists the receivers; read again for each notice. */
  readonly file: string;
  readonly giveUpSeconds: number;
  /** Base URL of the page, for links. */
  readonly pageUrl?: string;
}

export interface ActivitySettings {
  /** Another person than who started a run must approve it. */
  readonly approved_by_another?: boolean;
  /** Used if the site's configuration has no lower limit. */
  readonly max_parallel_nodes: number;
  readonly heartbeat_seconds: number;
  /** Series for nodes whose documents name none; absent: MAAS's default. */
  readonly distro_series?: string;
  /** cloud-init user data for every deployed node. */
  readonly user_data?: string;
  /** Address at which nodes reach the orchestrator's host: {MASTER_IP} in the fields of tasks. */
  readonly master_ip?: string;
  /** Runs may have tasks on `master` that an agent runs. Absent: their plans are refused. */
  readonly master_allowed?: boolean;
  /** Stands before the names of this installation in Temporal. */
  readonly prefix?: string;
  /** How long to wait for a node whose agent does not answer; default 120. */
  readonly offline_wait_seconds?: number;
}

/** Settings that a run gets when it is opened. */
export const openedWithin = ({ notices, settings }: ActivityDependencies): OpenedWithin => ({
  notices: notices !== undefined,
  approved_by_another: settings.approved_by_another ?? false,
  ...given({ prefix: settings.prefix }),
});

/** Whether whoever started the run waits for its answer now, after the attempts before this one. */
export function isAwaited({ answered }: { readonly answered: boolean }): boolean {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  return answered && currentAttemptScheduledTimestampMs - scheduledTimestampMs < SURELY_WAITS_MS.open;
}
