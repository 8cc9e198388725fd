import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { Region } from './region.ts';
import type { Change } from './tables.ts';

/** A journal is compacted once it has grown to this many times its content. */
const slack = 4;
const smallest = 8 * 2 ** 20;

/**
 * Keeps a region in a file: one line of JSON per request, with all its changes, written
 * before the answer. The kernel has the line once `write` returns, so that `kill -9`
 * of the simulator loses no answered change. (A power failure may: nothing is synced
 * per line.) A truncated last line belongs to an unanswered request and is ignored.
 */
export class Journal {
  readonly #path: string;
  readonly #region: Region;
  #file = -1;
  #size = 0;
  #compactSize = 0;

  private constructor(path: string, region: Region) {
    this.#path = path;
    this.#region = region;
  }

  /**
   * Opens or creates the file and restores the region.
   * @throws Error with the line when the file is not a journal.
   */
  static open(path: string, region: Region): Journal {
    const journal = new Journal(path, region);
    if (existsSync(path)) journal.#replay(readFileSync(path, 'utf8'));
    journal.compact();
    return journal;
  }

  #replay(content: string): void {
    const lines = content.split('\n');
    // Text after the last line end is a truncated write.
    lines.pop();
    if (lines.length === 0) return;
    for (const table of this.#region.tables) table.clear();
    for (const log of this.#region.logs) log.clear();
    lines.forEach((line, i) => {
      let changes: unknown;
      try {
        changes = JSON.parse(line);
      } catch {
        throw new Error(`${this.#path}:${i + 1}: this line is not JSON: not a state file of the MAAS simulator`);
      }
      if (!Array.isArray(changes)) {
        throw new Error(
          `${this.#path}:${i + 1}: a list of changes was expected: not a state file of the MAAS simulator`,
        );
      }
      for (const change of changes as Change[]) this.#apply(change);
    });
    this.#region.changes.take();
    this.#region.reindex();
  }

  #apply(change: Change): void {
    const [what, name] = change;
    if (what === 'append') {
      this.#region.logs.find((log) => log.name === name)?.restore(change[2]);
      return;
    }
    const table = this.#region.tables.find((candidate) => candidate.name === name);
    table?.restore(change[2], what === 'put' ? change[3] : undefined);
  }

  /** Writes the changes of one request. */
  write(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    const line = Buffer.from(`${JSON.stringify(changes)}\n`, 'utf8');
    for (let written = 0; written < line.length; ) written += writeSync(this.#file, line, written);
    this.#size += line.length;
    if (this.#size > Math.max(smallest, slack * this.#compactSize)) this.compact();
  }

  /** Atomically replaces the file with one of the current region. */
  compact(): void {
    const lines: string[] = [];
    for (const table of this.#region.tables) {
      for (const [key, row] of table.entries()) lines.push(JSON.stringify([['put', table.name, key, row]]));
    }
    for (const log of this.#region.logs) {
      for (const entry of log.kept()) lines.push(JSON.stringify([['append', log.name, entry]]));
    }
    const content = `${lines.join('\n')}\n`;
    const fresh = `${this.#path}.new`;
    writeFileSync(fresh, content);
    const file = openSync(fresh, 'a');
    fsyncSync(file);
    renameSync(fresh, this.#path);
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = file;
    this.#size = Buffer.byteLength(content);
    this.#compactSize = this.#size;
  }

  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = -1;
  }
}
