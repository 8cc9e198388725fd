import { findTaskType } from '../core/task-types/index.ts';
import { runner, type TaskRunner } from './task-runner.ts';
import { copyFiles } from './task-types/copy-files.ts';
import { packageFiles } from './task-types/package-files.ts';
import { puppet } from './task-types/puppet.ts';
import { reboot } from './task-types/reboot.ts';
import { masterShell, shell } from './task-types/shell.ts';
import { sync } from './task-types/sync.ts';
import { uploadFile } from './task-types/upload-file.ts';
import { uploadFiles } from './task-types/upload-files.ts';

/** How nodes carry tasks out. Names and parameters of types are in src/core/task-types. */
const runners: readonly TaskRunner[] = [
  copyFiles,
  masterShell,
  packageFiles,
  puppet,
  reboot,
  shell,
  sync,
  uploadFile,
  uploadFiles,
];

const byName = new Map(runners.map((one) => [one.type.name, one]));

/** How a node carries tasks of a type out; undefined for types that nodes do not carry out. */
export function findRunner(name: string): TaskRunner | undefined {
  const type = findTaskType(name);
  if (type === undefined || type.kind === 'work' || !type.over.includes('agent')) return byName.get(name);
  return runner(type, { run: async () => ({ failure: null, changed: false }) });
}
