import { spawnSync } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/**
 * A place in a task where it waits until the test lets it continue: a FIFO that the task reads one line from
 * (`read < PATH`).
 */
export class Gate {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    spawnSync('mkfifo', [path]);
  }

  /** Returns when the task has reached the gate and passed it. */
  async open(): Promise<void> {
    const fifo = await open(this.path, 'w');
    await fifo.write('go\n');
    await fifo.close();
  }
}

/** Ends when the file exists. */
export async function appears(path: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const watcher = watch(dirname(path), (_event, name) => {
      if (name === basename(path)) done();
    });
    const done = () => {
      watcher.close();
      resolve();
    };
    if (existsSync(path)) done();
  });
}
