import { describeFailure } from '../result.js';
import type { TaskType } from '../task-type.js';
import { type FileFrame, place, readFrame, STOPPED, uploadLimits } from './placed-file.js';

interface CopyParameters {
  readonly files: readonly (FileFrame & { readonly src: string })[];
  readonly timeout: number;
}

/** Places files whose content is read on the machine that holds the sources. All are tried; one try. */
export const copyFiles: TaskType<CopyParameters> = {
  name: 'copy_files',
  noop: 'skip',
  read: (parameters) => {
    const fallback = {
      permissions: parameters.permissions('permissions', 0o644),
      dirPermissions: parameters.permissions('dir_permissions', 0o755),
    };
    return {
      files: parameters
        .entries('files')
        .map((file) => ({ ...readFrame(file, 'dst', fallback), src: file.path('src') })),
      timeout: parameters.amount('timeout', 300),
    };
  },
  limits: (p) => uploadLimits({ timeout: p.timeout, retries: 0 }),
  inputs: (p) => p.files.map((file) => ({ kind: 'source', path: file.src })),
  run: async (p, context) => {
    const failed: { path: string; reason: string }[] = [];
    let changed = false;
    for (const file of p.files) {
      if (context.stop.aborted) return { ...STOPPED, changed };
      const data = context.source(file.src);
      const end = Buffer.isBuffer(data) ? await place(file, data, context) : { failure: data };
      if ('failure' in end) {
        const path = Buffer.isBuffer(data) ? file.path : file.src;
        failed.push({ path, reason: describeFailure(end.failure) });
        context.print(`failed: ${path}`);
      } else changed ||= end.changed;
    }
    const summary = { files: p.files.length, failed: failed.length };
    if (failed.length === 0) return { failure: null, changed, summary };
    return { failure: { kind: 'files', files: failed.slice(0, 20) }, changed, summary };
  },
};
