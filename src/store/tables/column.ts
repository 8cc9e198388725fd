import type { Generated } from 'kysely';
import { type InputCheck, storable } from '../input.ts';
import type { Json, JsonFields, JsonObject } from '../page.ts';

/**
 * Who sets a column: - `required`, `derived`, `optional`: the caller that creates the row. If absent, the store
 * computes the second, and the third gets its initial value. Changes may set them too;
 * - `later`: only changes; a new row has the initial value;
 * - `internal`: only the store;
 * - `serial`: the database.
 */
type Source = 'required' | 'derived' | 'optional' | 'later' | 'internal' | 'serial';

interface Rules<Stored, Read, Write> {
  /** Converts a value for storage, and reports problems with it. */
  encode(value: Write, check: InputCheck, path: string): Stored;
  /** Absent: the stored value is read unchanged. */
  decode?(stored: Stored): Read;
}

interface Settings<Stored, From> {
  readonly from: From;
  /** The value of a new row by default; undefined if a value is required. */
  readonly initial: Stored | undefined;
  readonly isNullable: boolean;
  /** In tables with merged writes: the newest write decides, otherwise the first value stays. */
  readonly newestDecides: boolean;
}

const REQUIRED = { from: 'required', initial: undefined, isNullable: false, newestDecides: false } as const;
const NULLABLE = { from: 'optional', initial: null, isNullable: true, newestDecides: false } as const;

/**
 * A table column, declared once. Rows, records, input and the conversions between them follow from it. `Stored` is the
 * type in the database, `Read` in a record, `Write` in input.
 */
export class Column<Stored, Read, Write, From extends Source> {
  readonly rules: Rules<Stored, Read, Write>;
  readonly settings: Settings<Stored, From>;

  constructor(rules: Rules<Stored, Read, Write>, settings: Settings<Stored, From>) {
    this.rules = rules;
    this.settings = settings;
  }

  nullable() {
    const { encode, decode } = this.rules;
    const rules: Rules<Stored | null, Read | null, Write | null> = {
      encode: (value, check, path) => (value === null ? null : encode(value, check, path)),
      ...(decode && { decode: (stored: Stored | null) => (stored === null ? null : decode(stored)) }),
    };
    return new Column(rules, NULLABLE);
  }

  /** Nullable; null is read as this value. */
  nullableAs(none: Read) {
    const { encode, decode } = this.nullable().rules;
    const rules: Rules<Stored | null, Read, Write | null> = {
      encode,
      decode: (stored) => (stored === null ? none : (decode?.(stored) ?? none)),
    };
    return new Column(rules, NULLABLE);
  }

  /** The stored value of a new row by default. */
  initially(initial: Stored) {
    return new Column(this.rules, { ...this.settings, from: 'optional' as const, initial });
  }

  derived() {
    return new Column(this.rules, { ...this.settings, from: 'derived' as const });
  }

  later() {
    return new Column(this.rules, { ...this.settings, from: 'later' as const });
  }

  internal() {
    return new Column(this.rules, { ...this.settings, from: 'internal' as const });
  }

  /** The newest write decides. */
  newest() {
    return new Column(this.rules, { ...this.settings, newestDecides: true });
  }
}

const column = <Stored, Read, Write>(rules: Rules<Stored, Read, Write>) => new Column(rules, REQUIRED);
const plain = <T>() => column<T, T, T>({ encode: (value) => value });
/** A text with its own rules. */
export const textBy = (encode: Rules<string, string, string>['encode']) => column<string, string, string>({ encode });

/** A name or id: not empty, and short enough for an index. */
export const key = () => textBy((value, check, path) => check.key(path, value));
export const text = () => textBy(storable);
/** One of a closed list of strings. */
export const choice = <W extends string>() => plain<W>();
export const siteName = () => textBy((value, check, path) => check.siteName(path, value));
/** ISO 8601; stored in UTC with milliseconds (`2026-01-02T03:04:05.678Z`), which sorts as text. */
export const time = () => textBy((value, check, path) => check.time(path, value));
export const count = () => column<number, number, number>({ encode: (value, check, path) => check.count(path, value) });
/** Id of a row in another table. */
export const reference = () => plain<number>();
export const bytes = () => plain<Uint8Array>();
/** 0 or 1 in the database. */
export const flag = () =>
  column<number, boolean, boolean>({ encode: (value) => Number(value), decode: (stored) => stored !== 0 });

/** JSON text in the database. */
export const json = <Read, Write = Read>() =>
  column<string, Read, Write>({
    encode: (value, check, path) => check.json(path, value),
    decode: (stored) => JSON.parse(stored),
  });
export const jsonObject = () => json<JsonObject, JsonFields>();
/** Any JSON including null; an absent value is read as null. */
export const anyJson = () => {
  const rules: Rules<string | null, Json, unknown> = {
    encode: (value, check, path) => check.json(path, value),
    decode: (stored) => (stored === null ? null : JSON.parse(stored)),
  };
  return new Column(rules, NULLABLE);
};

/** The row's id, set by the database. */
export const serial = () => new Column(reference().rules, { ...REQUIRED, from: 'serial' as const });

/** The columns of a table, by name: camelCase here, snake_case in the database (CamelCasePlugin). */
type Columns = Readonly<Record<string, { readonly settings: { readonly from: Source } }>>;

type Stored<C> = C extends Column<infer S, infer _R, infer _W, infer _F> ? S : never;
type Read<C> = C extends Column<infer _S, infer R, infer _W, infer _F> ? R : never;
type Write<C> = C extends Column<infer _S, infer _R, infer W, infer _F> ? W : never;
type From<C> = C extends Column<infer _S, infer _R, infer _W, infer F> ? F : never;

type Need<C> =
  From<C> extends 'derived' | 'internal'
    ? null extends Stored<C>
      ? 'may'
      : 'must'
    : From<C> extends 'serial'
      ? 'never'
      : 'may';

/** A table as Kysely sees it. */
export type TableOf<C extends Columns> = {
  [K in keyof C]: From<C[K]> extends 'serial' ? Generated<number> : Stored<C[K]>;
};
/** A row as stored. */
export type RowOf<C extends Columns> = { [K in keyof C]: Stored<C[K]> };
export type NewRowOf<C extends Columns> = { [K in keyof C as From<C[K]> extends 'serial' ? never : K]: Stored<C[K]> };
/** A row as callers see it, decoded. */
export type RecordOf<C extends Columns> = { readonly [K in keyof C]: Read<C[K]> };
/** Fields to create a row. */
export type NewOf<C extends Columns> = {
  readonly [K in keyof C as From<C[K]> extends 'required' ? K : never]: Write<C[K]>;
} & {
  readonly [K in keyof C as From<C[K]> extends 'derived' | 'optional' ? K : never]?: Write<C[K]>;
};
/** Fields to change a row. An absent field keeps its value. */
export type ChangeOf<C extends Columns> = {
  readonly [K in keyof C as From<C[K]> extends 'internal' | 'serial' ? never : K]?: Write<C[K]>;
};
/** Fields that the store adds to a new row. */
export type OwnOf<C extends Columns> = {
  readonly [K in keyof C as Need<C[K]> extends 'must' ? K : never]: Write<C[K]>;
} & {
  readonly [K in keyof C as Need<C[K]> extends 'may' ? K : never]?: Write<C[K]>;
};
