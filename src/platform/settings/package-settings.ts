import { z } from 'zod';

/** Settings of packages: their sources, and limits of archives. */
export const packageSettings = z.strictObject({
  folder: z
    .string()
    .min(1)
    .meta({ isPath: true })
    .optional()
    .describe(
      'Folder of package folders and archives that `sitewright package sync` installs and keeps up to date. None: only manual installation.',
    ),
  base_release: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether a fresh system gets the release `base`: one role, no tasks. It can be removed, and does not come back.',
    ),
  archive_megabytes: z
    .int()
    .min(1)
    .max(256)
    .default(64)
    .describe('Largest archive that the API accepts, in megabytes.'),
  unpacked_megabytes: z
    .int()
    .min(1)
    .max(16_384)
    .default(512)
    .describe(
      'Megabytes that an archive may unpack to. It is unpacked onto the disk, into the folder for temporary files.',
    ),
  max_files: z.int().min(1).max(1_000_000).default(20_000).describe('Files and folders that an archive may have.'),
  archives_at_once: z
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe(
      'Archive uploads and downloads in progress at the same time; further ones are answered with 503 (`busy`) and `Retry-After`. Archives are unpacked one after the other.',
    ),
});
