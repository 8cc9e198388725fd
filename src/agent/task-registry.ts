import type { TaskType } from './task-type.js';
import { copyFiles } from './task-types/copy-files.js';
import { nothing } from './task-types/nothing.js';
import { puppet } from './task-types/puppet.js';
import { reboot } from './task-types/reboot.js';
import { masterShell, shell } from './task-types/shell.js';
import { sync } from './task-types/sync.js';
import { uploadFile } from './task-types/upload-file.js';
import { uploadFiles } from './task-types/upload-files.js';

/** Every task type a node can run. A new one is a file in task-types/ and an entry here. */
const registered: readonly TaskType[] = [
  anyTask(copyFiles),
  anyTask(masterShell),
  ...nothing.map(anyTask),
  anyTask(puppet),
  anyTask(reboot),
  anyTask(shell),
  anyTask(sync),
  anyTask(uploadFile),
  anyTask(uploadFiles),
];

/** A type forgets here what its parameters are: it only ever gets those it has read itself. */
function anyTask<P>(type: TaskType<P>): TaskType {
  return type as unknown as TaskType;
}

const byName = new Map(registered.map((type) => [type.name, type]));

export const taskTypeNames: readonly string[] = [...byName.keys()].sort();

export const findTaskType = (name: string): TaskType | undefined => byName.get(name);
