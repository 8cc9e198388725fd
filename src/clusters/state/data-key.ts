import type { Fields } from '../../graph/index.ts';

/** One key of the data of task expressions: its meaning, source and value. */
interface DataKey<Given> {
  readonly holds: string;
  readonly origin: string;
  /** Undefined: the key is absent. */
  readonly value: (given: Given) => unknown;
}

/** A key of Fuel that published tasks read and nothing here fills. */
export const ALWAYS_EMPTY: DataKey<unknown> = {
  holds: 'always empty',
  origin: 'for tasks made for Fuel',
  value: () => ({}),
};

export type DataKeys<Given> = Readonly<Record<string, DataKey<Given>>>;

/** The values of all keys that are present. */
export const dataOf = <Given>(keys: DataKeys<Given>, given: Given): Fields =>
  Object.fromEntries(
    Object.entries(keys).flatMap(([name, { value }]) => {
      const found = value(given);
      return found === undefined ? [] : [[name, found]];
    }),
  );
