import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The cgroup v2 folder this process lives in; undefined without cgroup v2. */
export function ownCgroup(): string | undefined {
  try {
    const mount = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .find((line) => / - cgroup2 /.test(line))
      ?.split(' ')[4];
    const path = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    return mount === undefined || path === undefined ? undefined : join(mount, path);
  } catch {
    return undefined;
  }
}

const processesOf = (folder: string): string => join(folder, 'cgroup.procs');

/** A cgroup for one task: every process the task starts stays in it, even if it detaches. */
export class Cgroup {
  readonly folder: string;
  readonly #home: string;

  private constructor(folder: string, home: string) {
    this.folder = folder;
    this.#home = home;
  }

  /** Opens or creates the group; undefined if that is not possible (no cgroup v2, no permission, no cgroup.kill). */
  static open(root: string, name: string): Cgroup | undefined {
    const home = ownCgroup();
    if (home === undefined) return undefined;
    const folder = join(root, name);
    try {
      mkdirSync(folder, { recursive: true });
      if (!readdirSync(folder).includes('cgroup.kill')) return undefined;
      const group = new Cgroup(folder, home);
      group.run(() => undefined);
      return group;
    } catch {
      return undefined;
    }
  }

  /** Processes forked by `start` are born in the group: this process joins it for the duration of the call. */
  run<T>(start: () => T): T {
    this.#join();
    try {
      return start();
    } finally {
      writeFileSync(processesOf(this.#home), String(process.pid));
    }
  }

  /** Where the agent is a service, systemd removes its empty groups whenever it starts again: then the group is made again. */
  #join(): void {
    for (;;) {
      try {
        writeFileSync(processesOf(this.folder), String(process.pid));
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        // Fails, and ends this, where the service has no group any more.
        mkdirSync(this.folder);
      }
    }
  }

  members(): number[] {
    return foldersBelow(this.folder).flatMap((folder) => {
      try {
        return readFileSync(processesOf(folder), 'utf8').split('\n').filter(Boolean).map(Number);
      } catch {
        return [];
      }
    });
  }

  /** Sends SIGKILL to all together, including children that are being forked. */
  kill(): void {
    try {
      writeFileSync(join(this.folder, 'cgroup.kill'), '1');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** Removes the group if it is empty. */
  remove(): void {
    removeEmptyGroup(this.folder);
  }
}

/** The folder and all below it, parents first; empty if it does not exist. */
function foldersBelow(folder: string): string[] {
  try {
    const inner = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [folder, ...inner.flatMap((entry) => foldersBelow(join(folder, entry.name)))];
  } catch {
    return [];
  }
}

/** Removes a group and those below it, as far as they are empty. */
export function removeEmptyGroup(folder: string): void {
  for (const inner of foldersBelow(folder).reverse()) {
    try {
      rmdirSync(inner);
    } catch {
      return;
    }
  }
}
