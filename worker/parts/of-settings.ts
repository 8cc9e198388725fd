import { TaskLogs } from '../../src/agent/output/task-logs.ts';
import type { ArchiveIntake } from '../../src/api/index.ts';
import { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from '../../src/packages/index.ts';
import { directorySecrets } from '../../src/platform/secrets/directory-secrets.ts';
import { environmentSecrets, firstOf, type SecretProvider } from '../../src/platform/secrets/secret-provider.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';

const MEGABYTE = 1024 * 1024;

/** Limits of unpacked archives, from the settings. */
export const archiveLimitsOf = ({ packages }: Settings): ArchiveLimits => ({
  ...DEFAULT_ARCHIVE_LIMITS,
  maxUnpackedBytes: packages.unpacked_megabytes * MEGABYTE,
  maxMembers: packages.max_files,
});

/** How many archives the API takes, and how large. */
export const archiveIntakeOf = ({ packages }: Settings): ArchiveIntake => ({
  maxBytes: packages.archive_megabytes * MEGABYTE,
  atOnce: packages.archives_at_once,
});

/** The configured store of task output. */
export const taskLogs = ({ task_logs }: Pick<Settings, 'task_logs'>): TaskLogs =>
  new TaskLogs({ folder: task_logs.folder, bytesPerStream: Math.round(task_logs.megabytes * MEGABYTE) });

/** The configured sources of secrets: the folder comes before the environment. */
export const secretsOf = ({ secrets }: Pick<Settings, 'secrets'>): SecretProvider =>
  firstOf([...(secrets.directory === undefined ? [] : [directorySecrets(secrets.directory)]), environmentSecrets()]);

/** The gateway's address for nodes. */
export function gatewayUrl({ gateway }: Pick<Settings, 'gateway'>, boundPort = gateway.port): string {
  const host = gateway.host ?? '127.0.0.1';
  return gateway.url ?? `https://${host.includes(':') ? `[${host}]` : host}:${boundPort}`;
}

/**
 * The address at which nodes reach this installation: the value of {MASTER_IP} in tasks. Undefined without a gateway.
 */
export function masterAddress({ gateway }: Settings): string | undefined {
  if (gateway.url !== undefined) return new URL(gateway.url).hostname;
  return gateway.host;
}
