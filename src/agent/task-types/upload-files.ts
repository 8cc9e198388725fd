import type { TaskType } from '../task-type.js';
import { placeInOrder, readFrame, secretsOf, type UploadedFile, uploadLimits } from './placed-file.js';

interface UploadFilesParameters {
  readonly files: readonly UploadedFile[];
  readonly timeout: number;
  readonly retries: number;
}

/** Places the files meant for this node. `filesByNode` parts a task that names several nodes. */
export const uploadFiles: TaskType<UploadFilesParameters> = {
  name: 'upload_files',
  noop: 'skip',
  read: (parameters, node) => {
    const fallback = {
      permissions: parameters.permissions('permissions', 0o644),
      dirPermissions: parameters.permissions('dir_permissions', 0o755),
    };
    const files = parameters.entries('nodes').flatMap((entry) => {
      const uid = entry.text('uid');
      if (uid !== node && uid !== '')
        entry.wrong(
          'uid',
          `these files are for node ${uid}, and this is node ${node}`,
          "Send each node's part to that node's agent.",
        );
      return entry
        .entries('files')
        .map((file) => ({ ...readFrame(file, 'dst', fallback), content: file.content('data') }));
    });
    return { files, timeout: parameters.amount('timeout', 60), retries: parameters.count('retries', 3) };
  },
  // The limit is one file's: a task with many has that much for each.
  limits: (p) => uploadLimits({ timeout: p.timeout * Math.max(1, p.files.length), retries: p.retries }),
  inputs: (p) => secretsOf(p.files),
  run: (p, context) => placeInOrder(p.files, context),
};

/**
 * Parts the parameters of an `upload_files` task by the node each file is for, in the order of first mention:
 * one execution for each. Entries that are no objects with a text `uid` come back under `''`, to be refused
 * by the type.
 */
export function filesByNode(
  parameters: Readonly<Record<string, unknown>>,
): Map<string, Readonly<Record<string, unknown>>> {
  const parts = new Map<string, unknown[]>();
  const { nodes: entries } = parameters;
  for (const entry of Array.isArray(entries) ? (entries as unknown[]) : []) {
    const uid: unknown = (entry as { uid?: unknown } | null)?.uid;
    const node = typeof uid === 'string' ? uid : '';
    parts.set(node, [...(parts.get(node) ?? []), entry]);
  }
  return new Map([...parts].map(([node, nodes]) => [node, { ...parameters, nodes }]));
}
