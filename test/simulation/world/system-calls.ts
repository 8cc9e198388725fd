import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname } from 'node:path';
import { type Disk, DiskFile, type DiskFolder, systemError } from './disk.ts';
import { Ended, type OpenFile, type Process } from './machine.ts';

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = fs.constants;

const FLAGS: Readonly<Record<string, number>> = {
  r: 0,
  'r+': O_RDWR,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_TRUNC | O_EXCL,
  a: O_WRONLY | O_CREAT | O_APPEND,
  ax: O_WRONLY | O_CREAT | O_APPEND | O_EXCL,
};

const IN_MEMORY = '/dev/shm';

/** The file system that a path is on, and its path there. */
function placeOf({ machine }: Process, path: string): { readonly disk: Disk; readonly at: string } {
  if (path === IN_MEMORY || path.startsWith(`${IN_MEMORY}/`))
    return { disk: machine.memory, at: path.slice(IN_MEMORY.length) || '/' };
  return { disk: machine.disk, at: path };
}

function open(process: Process, path: string, flags: string | number = 'r', mode?: number): OpenFile {
  const bits = typeof flags === 'number' ? flags : FLAGS[flags];
  if (bits === undefined) throw new Error(`the simulated file system does not know the flags ${flags}`);
  if (path === '/dev/null')
    return {
      path,
      disk: process.machine.memory,
      entry: new DiskFile(0o666),
      isAppending: false,
      position: 0,
      references: 0,
    };
  const { disk, at } = placeOf(process, path);
  const isNew = disk.find(at) === undefined;
  const entry = disk.open(
    at,
    {
      write: (bits & (O_WRONLY | O_RDWR)) !== 0,
      create: (bits & O_CREAT) !== 0,
      exclusive: (bits & O_EXCL) !== 0,
      truncate: (bits & O_TRUNC) !== 0,
    },
    mode,
  );
  if (isNew) process.machine.changed(dirname(path));
  return { path, disk, entry, isAppending: (bits & O_APPEND) !== 0, position: 0, references: 0 };
}

const fileOf = ({ entry }: OpenFile, call: string): DiskFile => {
  if (entry.kind === 'folder') throw systemError('EISDIR', call);
  return entry;
};

function descriptorOf(process: Process, descriptor: number, call: string): OpenFile {
  const file = process.files.get(descriptor);
  if (file === undefined) throw systemError('EBADF', call);
  return file;
}

function write(process: Process, file: OpenFile, bytes: Uint8Array, position?: number | null): number {
  const entry = fileOf(file, 'write');
  const at = position ?? (file.isAppending ? entry.size : file.position);
  const written = file.disk.write(entry, at, bytes);
  if (position === undefined || position === null) file.position = at + written;
  process.machine.changed(dirname(file.path));
  return written;
}

function writeWhole(process: Process, path: string, data: string | Uint8Array, flags: string, mode?: number): void {
  const file = open(process, path, flags, mode);
  const bytes = Buffer.from(data as Uint8Array);
  for (let at = 0; at < bytes.length; ) at += write(process, file, bytes.subarray(at));
}

function readProc(process: Process, path: string): string {
  const { machine } = process;
  if (path === '/proc/sys/kernel/random/boot_id') return `${machine.bootId}\n`;
  const [, pid, name] = /^\/proc\/(\d+)\/(stat|environ)$/.exec(path) ?? [];
  const found = machine.processes.get(Number(pid));
  if (found === undefined) throw systemError('ENOENT', 'open', path);
  if (name === 'environ')
    return Object.entries(found.environment)
      .map(([key, value]) => `${key}=${value}\0`)
      .join('');
  const between = Array(15).fill(0).join(' ');
  return `${found.pid} (${basename(found.args[0] ?? '')}) S ${found.parent} ${found.pid} ${found.session} ${between} ${found.startTime} 0`;
}

interface ModeOption {
  readonly mode?: number;
}

const stateOf = (entry: DiskFile | DiskFolder) => ({
  size: entry.kind === 'file' ? entry.size : 0,
  mode: entry.kind === 'file' ? entry.mode : 0o40700,
  uid: process.getuid?.() ?? 0,
  isFile: () => entry.kind === 'file',
  isDirectory: () => entry.kind === 'folder',
});

function removed(process: Process, path: string, work: (disk: Disk, at: string) => void): void {
  const { disk, at } = placeOf(process, path);
  work(disk, at);
  process.machine.changed(dirname(path));
}

/** System calls by the names of `node:fs`, with what our programs use of their signatures. */
const FILE_CALLS = {
  existsSync(process: Process, path: string): boolean {
    if (path.startsWith('/proc/')) return false;
    const { disk, at } = placeOf(process, path);
    try {
      return disk.find(at) !== undefined;
    } catch {
      return false;
    }
  },
  accessSync(process: Process, path: string): void {
    const { disk, at } = placeOf(process, path);
    disk.get(at, 'access');
  },
  statSync(process: Process, path: string, options?: { throwIfNoEntry?: boolean }) {
    const { disk, at } = placeOf(process, path);
    if (options?.throwIfNoEntry === false && disk.find(at) === undefined) return undefined;
    return stateOf(disk.get(at, 'stat'));
  },
  lstatSync(process: Process, path: string) {
    const { disk, at } = placeOf(process, path);
    return stateOf(disk.get(at, 'lstat'));
  },
  statfsSync(process: Process, path: string) {
    const { disk } = placeOf(process, path);
    return { bavail: Math.floor(disk.free / 4096), bsize: 4096 };
  },
  mkdirSync(process: Process, path: string, options?: { recursive?: boolean }): void {
    const { disk, at } = placeOf(process, path);
    disk.makeFolder(at, options?.recursive === true);
    process.machine.changed(dirname(path));
  },
  readdirSync(process: Process, path: string, options?: { withFileTypes?: boolean }) {
    if (path === '/proc') return [...process.machine.processes.keys()].map(String);
    const { disk, at } = placeOf(process, path);
    const entries = [...disk.folder(at, 'scandir').entries].sort(([one], [other]) => (one < other ? -1 : 1));
    if (options?.withFileTypes !== true) return entries.map(([name]) => name);
    return entries.map(([name, entry]) => ({ name, parentPath: path, ...stateOf(entry) }));
  },
  readFileSync(process: Process, path: string | number, options?: string | { encoding?: string }) {
    const encoding = typeof options === 'string' ? options : options?.encoding;
    const content = (): Buffer => {
      if (typeof path === 'string' && path.startsWith('/proc/')) return Buffer.from(readProc(process, path));
      const file =
        typeof path === 'number'
          ? fileOf(descriptorOf(process, path, 'read'), 'read')
          : fileOf(open(process, path), 'read');
      return Buffer.from(file.read(0, file.size));
    };
    return encoding === undefined ? content() : content().toString(encoding as BufferEncoding);
  },
  writeFileSync(process: Process, path: string, data: string | Uint8Array, options?: ModeOption): void {
    if (path.startsWith('/proc/')) throw systemError('ENOENT', 'open', path);
    writeWhole(process, path, data, 'w', options?.mode);
  },
  appendFileSync(process: Process, path: string, data: string | Uint8Array, options?: ModeOption): void {
    writeWhole(process, path, data, 'a', options?.mode);
  },
  openSync(process: Process, path: string, flags?: string | number, mode?: number): number {
    return process.add(open(process, path, flags, mode));
  },
  closeSync(process: Process, descriptor: number): void {
    process.close(descriptor);
  },
  readSync(
    process: Process,
    descriptor: number,
    into: Buffer,
    offset: number,
    length: number,
    position: number | null,
  ) {
    const open = descriptorOf(process, descriptor, 'read');
    const bytes = fileOf(open, 'read').read(position ?? open.position, length);
    into.set(bytes, offset);
    if (position === null) open.position += bytes.length;
    return bytes.length;
  },
  writeSync(process: Process, descriptor: number, data: string | Uint8Array, ...more: (number | undefined)[]): number {
    const file = descriptorOf(process, descriptor, 'write');
    // Text: position. Bytes: offset, length, position.
    if (typeof data === 'string') return write(process, file, Buffer.from(data), more[0]);
    const [offset = 0, length = data.length - offset, position] = more;
    return write(process, file, data.subarray(offset, offset + length), position);
  },
  fsyncSync(process: Process, descriptor: number): void {
    const { entry, path } = descriptorOf(process, descriptor, 'fsync');
    entry.sync();
    if (entry.kind === 'folder') process.machine.observer?.synced(path);
  },
  fdatasyncSync(process: Process, descriptor: number): void {
    descriptorOf(process, descriptor, 'fdatasync').entry.sync();
  },
  ftruncateSync(process: Process, descriptor: number, size: number): void {
    const { disk, ...file } = descriptorOf(process, descriptor, 'ftruncate');
    disk.truncate(fileOf({ disk, ...file }, 'ftruncate'), size);
  },
  linkSync(process: Process, from: string, to: string): void {
    const { disk, at } = placeOf(process, from);
    disk.link(at, placeOf(process, to).at);
    process.machine.observer?.linked(process, to);
    process.machine.changed(dirname(to));
  },
  renameSync(process: Process, from: string, to: string): void {
    const { disk, at } = placeOf(process, from);
    disk.rename(at, placeOf(process, to).at);
    process.machine.observer?.linked(process, to);
    process.machine.changed(dirname(to));
  },
  unlinkSync(process: Process, path: string): void {
    removed(process, path, (disk, at) => disk.unlink(at));
  },
  rmSync(process: Process, path: string, options?: { force?: boolean }): void {
    removed(process, path, (disk, at) => {
      if (options?.force !== true || disk.find(at) !== undefined) disk.remove(at);
    });
  },
} as const;

/** Those of `node:fs/promises`. */
const LATER_CALLS = {
  writeFile: async (
    process: Process,
    ...args: Parameters<typeof FILE_CALLS.writeFileSync> extends [unknown, ...infer R] ? R : never
  ) => FILE_CALLS.writeFileSync(process, ...args),
  readFile: async (process: Process, path: string, options?: string) => FILE_CALLS.readFileSync(process, path, options),
} as const;

/** Calls that change something: others leave no trace when their process ends within. */
const CHANGES: ReadonlySet<string> = new Set([
  ...['openSync', 'closeSync', 'writeSync', 'writeFileSync', 'writeFile', 'appendFileSync', 'ftruncateSync'],
  ...['mkdirSync', 'linkSync', 'renameSync', 'unlinkSync', 'rmSync', 'fsyncSync', 'fdatasyncSync', 'spawn', 'kill'],
]);

type AnyCall = (process: Process, ...args: never[]) => unknown;

/**
 * Gives code that runs in a process of a simulated machine that machine's system calls, by the names of Node.js. Other code keeps
 * the real ones.
 *
 * @param current the process whose code runs now, if it is one of a simulated machine
 * @returns what gives the real ones back
 */
export function takeOverSystemCalls(current: () => Process | undefined): () => void {
  const undo: (() => void)[] = [];
  const replace = (target: object, name: string, call: AnyCall): void => {
    const real = Object.getOwnPropertyDescriptor(target, name)!;
    const before = real.value as (...args: unknown[]) => unknown;
    const value = (...args: unknown[]): unknown => {
      const process = current();
      if (process === undefined) return before.apply(target, args);
      process.machine.called(process, CHANGES.has(name));
      return call(process, ...(args as never[]));
    };
    Object.defineProperty(target, name, { ...real, value });
    undo.push(() => Object.defineProperty(target, name, real));
  };
  for (const [name, call] of Object.entries(FILE_CALLS)) replace(fs, name, call);
  for (const [name, call] of Object.entries(LATER_CALLS)) replace(fs.promises, name, call);
  replace(fs, 'watch', (process: Process, folder: string, ring: () => void) => {
    if (!process.machine.hasWatches) throw systemError('ENOSPC', 'watch', folder);
    return { close: process.machine.watch(folder, ring), on: () => undefined };
  });
  replace(childProcess, 'spawn', (process: Process, program: string, args: string[], options: object) =>
    process.machine.spawn(process, program, args, options),
  );
  replace(process, 'kill', (own: Process, pid: number, signal: 'SIGTERM' | 'SIGKILL') => {
    if (!own.machine.signal(pid, signal)) throw systemError('ESRCH', 'kill');
    return true;
  });
  const signalCall =
    (real: (...args: unknown[]) => unknown, name: 'on' | 'off') =>
    (...args: unknown[]): unknown => {
      const own = current();
      if (own === undefined) return real.apply(process, args);
      own.signals[name](args[0] as string, args[1] as () => void);
      return process;
    };
  const override = (name: 'on' | 'off' | 'pid' | 'emit', property: PropertyDescriptor): void => {
    const own = Object.getOwnPropertyDescriptor(process, name);
    Object.defineProperty(process, name, { configurable: true, ...property });
    undo.push(() => {
      if (own === undefined) Reflect.deleteProperty(process, name);
      else Object.defineProperty(process, name, own);
    });
  };
  for (const name of ['on', 'off'] as const)
    override(name, { value: signalCall(process[name].bind(process) as never, name), writable: true });
  const { pid } = process;
  override('pid', { enumerable: true, get: () => current()?.pid ?? pid });
  // What a process had begun fails when it has ended, and no one waits for it. The SDK's own listener would end the simulation.
  const emit = process.emit.bind(process) as (...args: unknown[]) => boolean;
  const emitUnlessEnded = (...args: unknown[]): boolean =>
    (args[0] === 'unhandledRejection' && args[1] instanceof Ended) || emit(...args);
  override('emit', { value: emitUnlessEnded, writable: true });
  syncBuiltinESMExports();
  return () => {
    for (const one of undo.reverse()) one();
    syncBuiltinESMExports();
  };
}
