/** One accepted change, as the journal keeps it. */
export type Change =
  | readonly ['put', table: string, key: string, row: unknown]
  | readonly ['delete', table: string, key: string]
  | readonly ['append', log: string, entry: unknown];

/** Collects what a request changed, so that it is written before the request is answered. */
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

  /** The changes since the last call; rows as they are now, however often they were touched. */
  take(): Change[] {
    const changes = [...this.#touched.values()].map((change) => change());
    changes.push(...this.#appended);
    this.#touched.clear();
    this.#appended.length = 0;
    return changes;
  }
}

/**
 * Rows by key. `get` hands out read-only rows and `edit` the same row to write to: the types make
 * it impossible to change a row that the journal does not hear of. Nested values of a row are
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

  /** Grows with each change of any row: what is made of the rows can be kept until then. */
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

  /** In the order in which the rows were made. */
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

  /** Takes a row from the journal: it is known there already. */
  restore(key: string, row: unknown): void {
    if (row === undefined) this.#rows.delete(key);
    else this.#rows.set(key, row as Row);
  }
}

/** Entries in the order in which they happened; only ever added to. */
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

  /** How many entries there ever were. */
  get added(): number {
    return this.#added;
  }

  add(entry: Entry): void {
    this.restore(entry);
    this.#changes.append(this.name, entry);
  }

  /** Adds an entry that a restart forgets, and that makes room once there are more than `most`. */
  addForgettable(entry: Entry, most: number): void {
    this.restore(entry);
    this.#forgettable.add(entry);
    // Now and then, not at each entry: cutting the list copies it.
    if (this.#entries.length > 2 * most) this.#entries = this.#entries.slice(-most);
  }

  /** The entries that outlive a restart. */
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
