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
import type { Region } from './region.js';
import type { Change } from './tables.js';

/** A journal is written anew once it has grown to this many times what it holds. */
const slack = 4;
const smallest = 8 * 2 ** 20;

/**
 * Keeps a region in a file: one line of JSON per request, with all that the request changed, written
 * before the request is answered. The kernel has the line once `write` returns, so that `kill -9`
 * of the simulator loses no change it has answered for. (A loss of power may: nothing is synced
 * per line.) A line that a kill cut short was never answered for and is left out.
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
   * Opens or makes the file and brings the region to where it was.
   * @throws Error naming the line when the file is no journal.
   */
  static open(path: string, region: Region): Journal {
    const journal = new Journal(path, region);
    if (existsSync(path)) journal.#replay(readFileSync(path, 'utf8'));
    journal.compact();
    return journal;
  }

  #replay(content: string): void {
    const lines = content.split('\n');
    // What follows the last line end is a write that a kill cut short.
    lines.pop();
    if (lines.length === 0) return;
    for (const table of this.#region.tables) table.clear();
    for (const log of this.#region.logs) log.clear();
    lines.forEach((line, i) => {
      let changes: unknown;
      try {
        changes = JSON.parse(line);
      } catch {
        throw new Error(`${this.#path}:${i + 1}: this line is no JSON: not a state file of the MAAS simulator`);
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

  /** Writes what one request changed. */
  write(changes: readonly Change[]): void {
    if (changes.length === 0) return;
    const line = Buffer.from(`${JSON.stringify(changes)}\n`, 'utf8');
    for (let written = 0; written < line.length; ) written += writeSync(this.#file, line, written);
    this.#size += line.length;
    if (this.#size > Math.max(smallest, slack * this.#compactSize)) this.compact();
  }

  /** Replaces the file, in one step, by one that holds the region as it is. */
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
