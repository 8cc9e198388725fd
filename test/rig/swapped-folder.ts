import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';

/** Without a pause: makes the folder (with files to delete) where it is missing, and swaps it for a link and back. */
const SWAP = `
const fs = require('node:fs');
const [folder, target] = process.argv.slice(1);
const quietly = (work) => { try { work(); } catch {} };
for (;;) {
  quietly(() => fs.mkdirSync(folder));
  quietly(() => fs.writeFileSync(folder + '/stray', ''));
  quietly(() => fs.renameSync(folder, folder + '-real'));
  quietly(() => fs.symlinkSync(target, folder));
  quietly(() => fs.unlinkSync(folder));
  quietly(() => fs.renameSync(folder + '-real', folder));
}`;

/** Another process that swaps a folder for a link to `target`, as a user with rights in the folder above may. */
export function swappedForLink(folder: string, target: string): { stop(): Promise<void> } {
  mkdirSync(folder, { recursive: true });
  const child = spawn(process.execPath, ['-e', SWAP, folder, target], { stdio: 'ignore' });
  return {
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
