import { isMapping } from '../core/data/plain-value.ts';
import type { Fields } from '../graph/index.ts';
import type { PluginRecord } from '../store/index.ts';

export const isFormat1 = (packageVersion: string | undefined): boolean => packageVersion === '1.0.0';

/**
 * The tasks of a plugin's `tasks.yaml`, which formats 1 to 4 run. In format 1 `controller` means the primary one too: when
 * it was written, no other name existed.
 */
export function stageTasksOf({
  packageVersion,
  metadata,
}: Pick<PluginRecord, 'packageVersion' | 'metadata'>): Fields[] {
  const tasks = Array.isArray(metadata.tasks) ? metadata.tasks.filter(isMapping) : [];
  if (packageVersion.startsWith('5.')) return [];
  return isFormat1(packageVersion) ? tasks.map(withPrimaryController) : tasks;
}

function withPrimaryController(task: Fields): Fields {
  const { role } = task;
  if (!Array.isArray(role) || !role.includes('controller') || role.includes('primary-controller')) return task;
  return { ...task, role: [...role, 'primary-controller'] };
}
