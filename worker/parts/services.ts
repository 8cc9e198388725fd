import { MaasConfigurationError, type MachineContext, type MachinesConfig, openMachines } from '@sitewright/maas';
import type { ActivityDependencies, ActivitySettings } from '../../activities/index.ts';
import { mayChangeUntil } from '../../activities/run/fencing.ts';
import { given } from '../../src/core/data/given.ts';
import { ProblemError } from '../../src/ops/problem.ts';
import { tagExtensionsOf } from '../../src/ops/tags/load-tag-extensions.ts';
import { withAllocatedTags } from '../../src/ops/tags/read-sources.ts';
import { readSettingFile } from '../../src/platform/files/setting-file.ts';
import { readMaasKey } from '../../src/platform/settings/secrets.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Store } from '../../src/store/index.ts';
import { masterAddress, secretsOf } from './of-settings.ts';

export interface Machines {
  /** @throws MaasConfigurationError without a URL and a key that can work */
  readonly maas: () => MachineContext;
  close(): Promise<void>;
}

/**
 * Opens the configured MAAS. A worker without MAAS starts anyway, since graphs and queries do not need it; a call that
 * needs machines then fails with the setting to set, until there is a key.
 *
 * @throws MaasConfigurationError when there is a URL or a key that cannot work
 */
export function machinesOf(settings: Settings, onAttempt?: MachinesConfig['onAttempt']): Machines {
  const machines = machinesWhenAsked(settings, onAttempt);
  if (settings.maas.url !== undefined && readMaasKey(settings).ok) machines.maas();
  return machines;
}

/** Opens the configured MAAS with the first call that needs it. */
export function machinesWhenAsked(settings: Settings, onAttempt?: MachinesConfig['onAttempt']): Machines {
  const { url } = settings.maas;
  const open = () => {
    if (url === undefined) throw new MaasConfigurationError(['MAAS is not configured: set maas.url']);
    const key = readMaasKey(settings);
    if (!key.ok) throw new MaasConfigurationError([`${key.message}. ${key.hint}`]);
    return openMachines({
      url,
      apiKey: key.key,
      rereadKey: () => {
        const renewed = readMaasKey(settings);
        return renewed.ok ? renewed.key : undefined;
      },
      ...paceOf(settings),
      sendChangesBy: mayChangeUntil,
      ...given({ onAttempt }),
    });
  };
  let machines: ReturnType<typeof open> | undefined;
  return {
    maas: () => {
      machines ??= open();
      return machines;
    },
    close: async () => machines?.close(),
  };
}

/** How patient an installation is with MAAS. */
export const paceOf = ({ maas: { timeouts, poll_min_seconds, poll_max_seconds } }: Settings) => ({
  readTimeoutMs: timeouts.read_seconds * 1000,
  changeTimeoutMs: timeouts.change_seconds * 1000,
  pollMinSeconds: poll_min_seconds,
  pollMaxSeconds: poll_max_seconds,
});

/** The settings that activities use. @throws SetupError */
export function activitySettings(settings: Settings): ActivitySettings {
  const { max_parallel_nodes, distro_series, user_data_file, heartbeat_seconds, offline_wait_seconds } =
    settings.deploy;
  const masterIp = masterAddress(settings);
  return {
    max_parallel_nodes,
    heartbeat_seconds,
    offline_wait_seconds,
    master_allowed: settings.agent.master === 'allow',
    approved_by_another: settings.access.approval_by_another === 'on',
    ...given({ prefix: settings.temporal.prefix, master_ip: masterIp, distro_series }),
    ...(user_data_file === undefined
      ? {}
      : { user_data: readSettingFile('deploy.user_data_file', user_data_file).toString('utf8') }),
  };
}

/** Lets the module of the setting `tags.extensions` decide in plans, if there is one. */
export function tagsByExtensions(path: string | undefined, store: Store): Pick<ActivityDependencies, 'allocateTags'> {
  if (path === undefined) return {};
  const tagExtensions = tagExtensionsOf(path);
  return {
    allocateTags: async (sources) => {
      try {
        return await withAllocatedTags({ store, tagExtensions }, sources);
      } catch (error) {
        if (error instanceof ProblemError) return { refused: error.message };
        throw error;
      }
    },
  };
}

/** Where notices about runs are sent. */
export function noticesOf({ notices }: Settings): Pick<ActivityDependencies, 'notices'> {
  const { receivers_file: file, page_url: pageUrl, give_up_hours } = notices;
  if (file === undefined) return {};
  return {
    notices: { file, giveUpSeconds: give_up_hours * 3600, ...given({ pageUrl }) },
  };
}

/** How repositories of sites are read. */
export const gitOf = (settings: Settings): Omit<NonNullable<ActivityDependencies['git']>, 'readSite'> => ({
  secrets: secretsOf(settings),
  limits: {
    allowLocal: settings.git.allow_local === 'on',
    hosts: settings.git.hosts
      .split(',')
      .map((host) => host.trim())
      .filter((host) => host !== ''),
    timeoutMs: settings.git.timeout_seconds * 1000,
    maxBytes: settings.git.max_megabytes * 1024 * 1024,
  },
});
