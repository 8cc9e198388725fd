import { withoutEnd } from '../core/text/text.ts';

/** One member of an archive: a file or a folder. */
export interface TarMember {
  readonly path: string;
  readonly kind: 'file' | 'folder';
  readonly executable: boolean;
  /** Of its content in the archive. */
  readonly at: number;
  readonly size: number;
}

/** An unpacked archive, of which pieces are read; it need not be in memory. */
export interface TarBytes {
  readonly length: number;
  /** Fewer at the end. */
  read(at: number, length: number): Uint8Array;
}

/** The content of a member, in pieces that are no longer used when the next one comes. */
export function* piecesOf(bytes: TarBytes, at: number, size: number): Generator<Uint8Array> {
  for (let done = 0; done < size; done += PIECE) yield bytes.read(at + done, Math.min(PIECE, size - done));
}

/** Why an archive is refused. Nothing of a refused archive is used. */
export type TarProblem =
  | { readonly kind: 'damaged'; readonly detail: string }
  | { readonly kind: 'bad-path'; readonly path: string; readonly detail: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'special'; readonly path: string; readonly detail: string }
  | { readonly kind: 'twice'; readonly path: string }
  | { readonly kind: 'too-many'; readonly limit: number };

export interface TarLimits {
  readonly maxMembers: number;
  /** UTF-8 bytes of one path. */
  readonly maxPathBytes: number;
  readonly maxDepth: number;
}

const BLOCK = 512;
const PIECE = 1024 * 1024;

/** Of a path or an extended header. */
const LONGEST_HEADER = 64 * 1024;

/** Limit of listed problems. */
const MAX_PROBLEMS = 100;

/**
 * Header of a member in the ustar format without anything that differs between machines:
 * no times, no owners, one mode for files and one for programs and folders. A path too long for ustar gets
 * a PAX record before it.
 */
export function tarHeader(path: string, kind: TarMember['kind'], size: number, executable: boolean): Uint8Array {
  const name = kind === 'folder' ? `${path}/` : path;
  const mode = kind === 'folder' || executable ? 0o755 : 0o644;
  const split = splitName(name);
  if (split) return header(split.prefix, split.name, mode, size, kind === 'folder' ? '5' : '0');
  const record = paxRecord('path', name);
  const short = utf8(name).slice(-99);
  return concat([
    header('', 'PaxHeader', 0o644, record.length, 'x'),
    record,
    tarPadding(record.length),
    header('', asciiOnly(short), mode, size, kind === 'folder' ? '5' : '0'),
  ]);
}

/** Zeros that fill a member's last block. */
export const tarPadding = (size: number): Uint8Array => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);

/** The end mark of an archive. */
export const tarEnd = (): Uint8Array => new Uint8Array(2 * BLOCK);

function header(prefix: string, name: string, mode: number, size: number, type: string): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const write = (at: number, text: string) => block.set(utf8(text), at);
  write(0, name);
  write(100, octal(mode, 7));
  write(108, octal(0, 7));
  write(116, octal(0, 7));
  write(124, octal(size, 11));
  write(136, octal(0, 11));
  write(148, ' '.repeat(8));
  write(156, type);
  write(257, 'ustar\u000000');
  write(345, prefix);
  write(148, `${octal(checksum(block), 6)}\u0000 `);
  return block;
}

function splitName(name: string): { prefix: string; name: string } | undefined {
  if (utf8(name).length <= 100) return { prefix: '', name };
  for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
    const rest = name.slice(slash + 1);
    if (utf8(name.slice(0, slash)).length <= 155 && rest !== '' && utf8(rest).length <= 100) {
      return { prefix: name.slice(0, slash), name: rest };
    }
  }
  return undefined;
}

/** `LENGTH KEY=VALUE\n`, where LENGTH counts itself. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = ` ${key}=${value}\n`;
  const size = utf8(rest).length;
  let length = size;
  while (String(length).length + size !== length) length = String(length).length + size;
  return utf8(`${length}${rest}`);
}

/** Reads a whole unpacked archive and checks every member. Use `members` only when there are no problems. */
export function readTar(bytes: TarBytes, limits: TarLimits): { members: TarMember[]; problems: TarProblem[] } {
  return new TarReader(bytes, limits).run();
}

class TarReader {
  readonly #bytes: TarBytes;
  readonly #limits: TarLimits;
  readonly #members: TarMember[] = [];
  readonly #problems: TarProblem[] = [];
  readonly #seen = new Set<string>();
  #at = 0;
  #longName: string | undefined;
  #longSize: number | undefined;

  constructor(bytes: TarBytes, limits: TarLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  run(): { members: TarMember[]; problems: TarProblem[] } {
    while (this.#next()) {
      if (this.#problems.length >= MAX_PROBLEMS) break;
      if (this.#seen.size > this.#limits.maxMembers) {
        this.#problems.push({ kind: 'too-many', limit: this.#limits.maxMembers });
        break;
      }
    }
    return { members: this.#members, problems: this.#problems };
  }

  /** False at the end, and when the rest cannot be read. */
  #next(): boolean {
    const block = Uint8Array.from(this.#bytes.read(this.#at, BLOCK));
    if (block.length < BLOCK) return this.#damaged('it ends without an end mark');
    if (block.every((byte) => byte === 0)) {
      for (const piece of piecesOf(this.#bytes, this.#at, this.#bytes.length - this.#at))
        if (piece.some((byte) => byte !== 0)) return this.#damaged('there is data after its end');
      return false;
    }
    const sum = number(block.subarray(148, 156));
    if (sum !== checksum(block)) return this.#damaged('a header has a wrong checksum: is it a tar archive?');
    const type = String.fromCharCode(block[156]!);
    const size = this.#longSize ?? number(block.subarray(124, 136));
    if (size === undefined || size < 0 || this.#at + BLOCK + size > this.#bytes.length) {
      return this.#damaged('a member is longer than the archive');
    }
    const at = this.#at + BLOCK;
    this.#at = at + size + tarPadding(size).length;
    return this.#member(block, type, at, size);
  }

  #member(block: Uint8Array, type: string, at: number, size: number): boolean {
    if (type === 'g') return true;
    if (type === 'x' || type === 'L') {
      if (size > LONGEST_HEADER) return this.#damaged('an extended header is too long');
      const content = Uint8Array.from(this.#bytes.read(at, size));
      if (type === 'x') return this.#paxRecords(content);
      this.#longName = cString(content);
      return true;
    }
    const prefix = text(block.subarray(257, 262)) === 'ustar' ? cString(block.subarray(345, 500)) : '';
    const name = cString(block.subarray(0, 100));
    const written = this.#longName ?? (prefix === '' ? name : `${prefix}/${name}`);
    this.#longName = undefined;
    this.#longSize = undefined;
    if (type === '1' || type === '2' || type === 'K') {
      this.#problems.push({ kind: 'link', path: written, target: cString(block.subarray(157, 257)) });
    } else if (type === '5') this.#add(written, 'folder', true, at, 0);
    else if (type === '0' || type === '\u0000' || type === '7') {
      const executable = ((number(block.subarray(100, 108)) ?? 0) & 0o111) !== 0;
      this.#add(written, 'file', executable, at, size);
    } else {
      const what =
        { '3': 'a device', '4': 'a device', '6': 'a pipe' }[type] ?? `a member of the unknown type '${type}'`;
      this.#problems.push({ kind: 'special', path: written, detail: what });
    }
    return true;
  }

  #add(written: string, kind: TarMember['kind'], executable: boolean, at: number, size: number): void {
    const path = withoutEnd(written.replace(/^(?:\.\/)+/, ''), '/');
    if (path === '' || path === '.') {
      if (kind === 'folder') return;
      this.#problems.push({ kind: 'bad-path', path: written, detail: 'it has no name' });
      return;
    }
    const detail = this.#pathProblem(path);
    if (detail !== undefined) this.#problems.push({ kind: 'bad-path', path: written, detail });
    else if (this.#seen.has(path)) {
      if (kind === 'file' || this.#members.some((member) => member.path === path && member.kind === 'file')) {
        this.#problems.push({ kind: 'twice', path });
      }
    } else {
      this.#seen.add(path);
      this.#members.push({ path, kind, executable, at, size });
    }
  }

  #pathProblem(path: string): string | undefined {
    if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'it is absolute';
    if (path.includes('\\') || path.includes('\u0000')) return 'it has a character that is not allowed in a path';
    if (path.includes('\ufffd')) return 'it is not UTF-8';
    const parts = path.split('/');
    if (parts.includes('..')) return 'it leaves the package';
    if (parts.some((part) => part === '' || part === '.')) return 'it is not plain';
    if (utf8(path).length > this.#limits.maxPathBytes) return `it has more than ${this.#limits.maxPathBytes} bytes`;
    if (parts.length > this.#limits.maxDepth) return `it is more than ${this.#limits.maxDepth} folders deep`;
    return undefined;
  }

  #paxRecords(content: Uint8Array): boolean {
    let at = 0;
    while (at < content.length) {
      const space = content.indexOf(0x20, at);
      const length = space < 0 ? Number.NaN : Number(text(content.subarray(at, space)));
      if (!Number.isInteger(length) || length < 5 || at + length > content.length) {
        return this.#damaged('an extended header is broken');
      }
      const record = text(content.subarray(space + 1, at + length - 1));
      const equals = record.indexOf('=');
      const [key, value] = [record.slice(0, equals), record.slice(equals + 1)];
      if (key === 'path') this.#longName = value;
      if (key === 'size') {
        if (!/^\d{1,15}$/.test(value)) return this.#damaged('an extended header is broken');
        this.#longSize = Number(value);
      }
      at += length;
    }
    return true;
  }

  #damaged(detail: string): false {
    this.#problems.push({ kind: 'damaged', detail });
    return false;
  }
}

const utf8 = (value: string): Uint8Array => new TextEncoder().encode(value);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
const asciiOnly = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : '_')).join('');

function cString(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return text(end < 0 ? bytes : bytes.subarray(0, end));
}

/** An octal field; undefined when it is not octal. Sizes that need the base-256 form are not supported. */
function number(bytes: Uint8Array): number | undefined {
  const digits = cString(bytes).trim();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : digits === '' ? 0 : undefined;
}

function checksum(block: Uint8Array): number {
  let sum = 0;
  for (let index = 0; index < BLOCK; index++) sum += index >= 148 && index < 156 ? 0x20 : block[index]!;
  return sum;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
