import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '../../core/text/text.ts';

// Steps that can be typed. None removes what may still be of use: the files go into a new folder next to them.

function newFolder(file: string): string {
  const name = join(dirname(file), 'kept');
  let free = name;
  for (let number = 2; existsSync(free); number++) free = `${name}-${number}`;
  return shellWord(free);
}

/** The file, its log of changes, and its index. */
const all = (file: string): string => `${shellWord(file)}*`;

/** Makes room for another database. */
export function settingAside(file: string): string {
  const folder = newFolder(file);
  return `mkdir ${folder} && mv ${all(file)} ${folder}/`;
}

/** Puts a backup in the place of a database that cannot be used. */
export const restoring = (file: string): string =>
  `Check store.url. If it is right, stop every Sitewright process and restore a backup (without one, leave out the last command: the store will be empty); run: ${settingAside(file)} && cp BACKUP ${shellWord(file)}`;

/** Gives up changes that cannot be read. */
export function goingOnWithout(file: string, command: string): string {
  const folder = newFolder(file);
  return `To restore a backup, see docs/reference/troubleshooting.md. To go on without those changes, stop every Sitewright process, then run: mkdir ${folder} && cp -p ${all(file)} ${folder}/ && ${command}`;
}

export const mountingWritable = (file: string): string =>
  `Is the disk meant to be read-only? If not, look for its errors (dmesg), then run: mount -o remount,rw "$(findmnt -no TARGET -T ${shellWord(dirname(file))})"`;

/** SQLite needs both: the file, and the folder for its log of changes. */
export const permitting = (file: string): string =>
  `Let this user write the file and its folder, or name another file in store.url; run: chown ${process.getuid?.() ?? 'USER'} ${shellWord(dirname(file))} ${all(file)}`;
