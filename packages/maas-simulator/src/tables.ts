/** One accepted change, as stored in the journal. */
export type Change =
  | readonly ['put', table: string, key: string, row: unknown]
  | readonly ['delete', table: string, key: string]
  | readonly ['append', log: string, entry: unknown];

/** Collects the changes of a request, to write them before the answer. */
export class ChangeSet {
  readonly #touched = new Map<string, () => Change>();
  readonly #appended: Change[] = [];

  touch(table: string, key: string, current: () => unknown): void {
    this.#touched.set(`${table} ${key}`, () => {
      const row = current();
      return row === undefined ? ['delete', table, key] : ['put', table, key, row];
    });
  }

  append(log: string, entry: unknown): void {
    this.#appended.push(['append', log, entry]);
  }

  /** The changes since the last call, with each changed row once in its current form. */
  take(): Change[] {
    const changes = [...this.#touched.values()].map((change) => change());
    changes.push(...this.#appended);
    this.#touched.clear();
    this.#appended.length = 0;
    return changes;
  }
}

/**
 * Rows by key. `get` returns read-only rows and `edit` the same row to write to: the types make
 * it impossible to change a row without the journal. Nested values of a row are
 * replaced, never changed in place.
 */
export class Table<Row extends object> {
  readonly name: string;
  readonly #changes: ChangeSet;
  readonly #rows = new Map<string, Row>();
  readonly #versions = new Map<string, number>();
  #version = 0;

  constructor(name: string, changes: ChangeSet) {
    this.name = name;
    this.#changes = changes;
  }

  /** Grows with each change of any row, to invalidate caches. */
  get version(): number {
    return this.#version;
  }

  /** Grows with each change of one row. */
  versionOf(key: string): number {
    return this.#versions.get(key) ?? 0;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Readonly<Row> | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  /** In the order of creation. */
  values(): IterableIterator<Readonly<Row>> {
    return this.#rows.values();
  }

  entries(): IterableIterator<[string, Readonly<Row>]> {
    return this.#rows.entries();
  }

  edit(key: string): Row {
    const row = this.#rows.get(key);
    if (row === undefined) throw new Error(`no row '${key}' in table '${this.name}'`);
    this.#touch(key);
    return row;
  }

  put(key: string, row: Row): Row {
    this.#rows.set(key, row);
    this.#touch(key);
    return row;
  }

  delete(key: string): void {
    if (this.#rows.delete(key)) this.#touch(key);
  }

  clear(): void {
    for (const key of [...this.#rows.keys()]) this.delete(key);
  }

  #touch(key: string): void {
    this.#version += 1;
    this.#versions.set(key, this.#version);
    this.#changes.touch(this.name, key, () => this.#rows.get(key));
  }

  /** Restores a row from the journal without recording a change. */
  restore(key: string, row: unknown): void {
    if (row === undefined) this.#rows.delete(key);
    else this.#rows.set(key, row as Row);
  }
}

/** An append-only list of entries in order. */
export class Log<Entry extends object> {
  readonly name: string;
  readonly #changes: ChangeSet;
  #entries: Entry[] = [];
  #forgettable = new WeakSet<Entry>();
  #added = 0;

  constructor(name: string, changes: ChangeSet) {
    this.name = name;
    this.#changes = changes;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Number of entries ever added. */
  get added(): number {
    return this.#added;
  }

  add(entry: Entry): void {
    this.restore(entry);
    this.#changes.append(this.name, entry);
  }

  /** Adds an entry that a restart drops; old entries are removed once there are more than `most`. */
  addTransient(entry: Entry, most: number): void {
    this.restore(entry);
    this.#forgettable.add(entry);
    // Not at each entry, because cutting the list copies it.
    if (this.#entries.length > 2 * most) this.#entries = this.#entries.slice(-most);
  }

  /** The entries that survive a restart. */
  kept(): Entry[] {
    return this.#entries.filter((entry) => !this.#forgettable.has(entry));
  }

  restore(entry: unknown): void {
    this.#entries.push(entry as Entry);
    this.#added += 1;
  }

  clear(): void {
    this.#entries = [];
    this.#added = 0;
  }
}
