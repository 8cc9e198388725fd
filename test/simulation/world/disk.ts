import { basename, dirname } from 'node:path';
import type { Random } from '@sitewright/temporal-simulator';

/** What `open` may be asked for. */
export interface OpenFlags {
  readonly write?: boolean;
  readonly create?: boolean;
  /** Fails if the file exists. */
  readonly exclusive?: boolean;
  readonly truncate?: boolean;
  readonly append?: boolean;
}

/** Bytes that a file or folder takes besides its content. */
const ENTRY_BYTES = 256;
const DEFAULT_BYTES = 2 ** 30;

/** A file. A power cut leaves what was synced, and by chance some of the rest. */
export class DiskFile {
  readonly kind = 'file';
  readonly mode: number;
  links = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #size = 0;
  #synced: Buffer = Buffer.alloc(0);

  constructor(mode: number) {
    this.mode = mode;
  }

  get size(): number {
    return this.#size;
  }

  read(position: number, length: number): Buffer {
    return this.#bytes.subarray(Math.min(position, this.#size), Math.min(position + length, this.#size));
  }

  /** The disk has counted the bytes before. */
  write(position: number, bytes: Uint8Array): void {
    const end = position + bytes.length;
    if (end > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(end, 2 * this.#size));
      this.#bytes.copy(grown, 0, 0, this.#size);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, position);
    this.#size = Math.max(this.#size, end);
  }

  truncate(size: number): void {
    const kept = Buffer.alloc(size);
    this.#bytes.copy(kept, 0, 0, Math.min(size, this.#size));
    this.#bytes = kept;
    this.#size = size;
  }

  sync(): void {
    this.#synced = Buffer.from(this.read(0, this.#size));
  }

  /** What the disk has of it: all, the synced part, or a torn part of the rest, whose end may be zeros. */
  loseUnsynced(chance: Random): void {
    const now = this.read(0, this.#size);
    if (now.equals(this.#synced)) return;
    const isAppended = now.length > this.#synced.length && now.subarray(0, this.#synced.length).equals(this.#synced);
    if (!isAppended) {
      if (chance.chance(0.5)) this.#take(this.#synced);
      return;
    }
    const kept = chance.pick([this.#synced.length, now.length, chance.int(this.#synced.length, now.length)]);
    const left = Buffer.from(now.subarray(0, kept));
    if (chance.chance(0.3)) left.fill(0, chance.int(this.#synced.length, kept));
    this.#take(left);
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.from(bytes);
    this.#size = bytes.length;
    this.sync();
  }
}

type Entry = DiskFile | DiskFolder;

/** A folder. Changes of its entries reach the disk in their order, at the latest when it is synced. */
export class DiskFolder {
  readonly kind = 'folder';
  readonly entries = new Map<string, Entry>();
  readonly #onDisk = new Map<string, Entry>();
  #pending: (readonly [name: string, entry: Entry | undefined])[] = [];

  set(name: string, entry: Entry | undefined): void {
    apply(this.entries, name, entry);
    this.#pending.push([name, entry]);
  }

  sync(): void {
    for (const [name, entry] of this.#pending) apply(this.#onDisk, name, entry);
    this.#pending = [];
  }

  /** Keeps the first few of the changes that were not synced. */
  loseUnsynced(chance: Random): void {
    const kept = this.#pending.length === 0 ? 0 : chance.int(0, this.#pending.length);
    for (const [name, entry] of this.#pending.slice(0, kept)) apply(this.#onDisk, name, entry);
    this.#pending = [];
    this.entries.clear();
    for (const [name, entry] of this.#onDisk) this.entries.set(name, entry);
  }
}

function apply(entries: Map<string, Entry>, name: string, entry: Entry | undefined): void {
  if (entry === undefined) entries.delete(name);
  else entries.set(name, entry);
}

/**
 * A file system in memory that keeps the promises of Linux and no others: content survives a power cut once the file was synced,
 * a name once its folder was. Errors are those of Node.js, with their `code`. Paths are absolute.
 */
export class Disk {
  #root = new DiskFolder();
  /** Below this much, writes fail with ENOSPC. */
  capacity: number;
  #used = 0;

  constructor(capacity = DEFAULT_BYTES) {
    this.capacity = capacity;
  }

  get free(): number {
    return Math.max(0, this.capacity - this.#used);
  }

  /** Undefined if there is none. @throws ENOTDIR */
  find(path: string): Entry | undefined {
    let at: Entry = this.#root;
    for (const name of path.split('/')) {
      if (name === '' || name === '.') continue;
      if (at.kind === 'file') throw systemError('ENOTDIR', 'open', path);
      const next = at.entries.get(name);
      if (next === undefined) return undefined;
      at = next;
    }
    return at;
  }

  get(path: string, call: string): Entry {
    const found = this.find(path);
    if (found === undefined) throw systemError('ENOENT', call, path);
    return found;
  }

  folder(path: string, call: string): DiskFolder {
    const found = this.get(path, call);
    if (found.kind === 'file') throw systemError('ENOTDIR', call, path);
    return found;
  }

  file(path: string, call: string): DiskFile {
    const found = this.get(path, call);
    if (found.kind === 'folder') throw systemError('EISDIR', call, path);
    return found;
  }

  open(path: string, flags: OpenFlags, mode = 0o666): Entry {
    const found = this.find(path);
    if (found !== undefined) {
      if (flags.exclusive) throw systemError('EEXIST', 'open', path);
      if (found.kind === 'folder' && flags.write) throw systemError('EISDIR', 'open', path);
      if (found.kind === 'file' && flags.truncate) this.truncate(found, 0);
      return found;
    }
    if (!flags.create) throw systemError('ENOENT', 'open', path);
    const folder = this.folder(dirname(path), 'open');
    this.#take(ENTRY_BYTES, 'open', path);
    const made = new DiskFile(mode);
    made.links = 1;
    folder.set(basename(path), made);
    return made;
  }

  /** As many of the bytes as there is space for. @throws ENOSPC for none */
  write(file: DiskFile, position: number, bytes: Uint8Array): number {
    const grows = Math.max(0, position + bytes.length - file.size);
    const fits = bytes.length - Math.max(0, grows - this.free);
    if (fits <= 0 && bytes.length > 0) throw systemError('ENOSPC', 'write');
    this.#used += Math.max(0, position + fits - file.size);
    file.write(position, bytes.subarray(0, fits));
    return fits;
  }

  truncate(file: DiskFile, size: number): void {
    if (size > file.size) this.#take(size - file.size, 'ftruncate');
    else this.#used -= file.size - size;
    file.truncate(size);
  }

  link(from: string, to: string): void {
    const file = this.file(from, 'link');
    if (this.find(to) !== undefined) throw systemError('EEXIST', 'link', to);
    this.folder(dirname(to), 'link').set(basename(to), file);
    file.links++;
  }

  rename(from: string, to: string): void {
    const moved = this.get(from, 'rename');
    const target = this.folder(dirname(to), 'rename');
    const there = this.find(to);
    if (there === moved) return;
    if (there?.kind === 'folder' && (moved.kind === 'file' || there.entries.size > 0))
      throw systemError(moved.kind === 'file' ? 'EISDIR' : 'ENOTEMPTY', 'rename', to);
    if (there?.kind === 'file') this.#unlinked(there);
    target.set(basename(to), moved);
    this.folder(dirname(from), 'rename').set(basename(from), undefined);
  }

  unlink(path: string): void {
    const file = this.file(path, 'unlink');
    this.folder(dirname(path), 'unlink').set(basename(path), undefined);
    this.#unlinked(file);
  }

  makeFolder(path: string, recursive: boolean): void {
    const found = this.find(path);
    if (found !== undefined) {
      if (recursive && found.kind === 'folder') return;
      throw systemError('EEXIST', 'mkdir', path);
    }
    if (recursive && this.find(dirname(path)) === undefined) this.makeFolder(dirname(path), true);
    const parent = this.folder(dirname(path), 'mkdir');
    this.#take(ENTRY_BYTES, 'mkdir', path);
    parent.set(basename(path), new DiskFolder());
  }

  remove(path: string): void {
    const found = this.get(path, 'rm');
    if (found.kind === 'file') {
      this.unlink(path);
      return;
    }
    for (const name of [...found.entries.keys()]) this.remove(`${path}/${name}`);
    this.folder(dirname(path), 'rm').set(basename(path), undefined);
    this.#used -= ENTRY_BYTES;
  }

  /** The machine shuts down in order. */
  syncAll(): void {
    for (const entry of this.#all(this.#root)) entry.sync();
  }

  /** The power is cut: what was not synced is lost, as chance has it. */
  losePower(chance: Random): void {
    for (const entry of [...this.#all(this.#root)]) entry.loseUnsynced(chance);
    const left = [...this.#all(this.#root)];
    for (const entry of left) if (entry.kind === 'file') entry.links = 0;
    for (const entry of left)
      if (entry.kind === 'folder') for (const inner of entry.entries.values()) if (inner.kind === 'file') inner.links++;
    const files = left.filter((entry) => entry.kind === 'file');
    this.#used = left.length * ENTRY_BYTES + files.reduce((sum, { size }) => sum + size, 0);
  }

  /** Each entry once, in a fixed order. */
  #all(from: DiskFolder, found = new Set<Entry>()): Set<Entry> {
    found.add(from);
    for (const entry of from.entries.values()) {
      if (entry.kind === 'folder') this.#all(entry, found);
      else found.add(entry);
    }
    return found;
  }

  #unlinked(file: DiskFile): void {
    file.links--;
    if (file.links === 0) this.#used -= file.size + ENTRY_BYTES;
  }

  #take(bytes: number, call: string, path?: string): void {
    if (bytes > this.free) throw systemError('ENOSPC', call, path);
    this.#used += bytes;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  EEXIST: 'file already exists',
  EISDIR: 'illegal operation on a directory',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EBADF: 'bad file descriptor',
  ESRCH: 'no such process',
};

/** An error as Node.js makes it of one of the kernel. */
export function systemError(code: string, call: string, path?: string): NodeJS.ErrnoException {
  const about = path === undefined ? '' : ` '${path}'`;
  const more = { code, syscall: call, ...(path === undefined ? {} : { path }) };
  // A trace costs more than the call; files that are not there are looked for every second.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new Error(`${code}: ${WORDS[code] ?? code}, ${call}${about}`);
  Error.stackTraceLimit = stackTraceLimit;
  return Object.assign(error, more);
}
