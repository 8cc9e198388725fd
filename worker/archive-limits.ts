import type { ArchiveIntake } from '../src/api/index.ts';
import { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from '../src/packages/index.ts';
import type { Settings } from '../src/platform/settings/settings.ts';

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
