import { z } from 'zod';
import type { Wire } from '../core/contracts/wire.ts';
import { type CamelCase, camelCase } from '../core/text/casing.ts';

/** A record of ours whose fields are those of a wire shape, by the names they have in TypeScript. */
type RecordOf<T> = unknown extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly RecordOf<Item>[]
    : T extends object
      ? { readonly [Name in keyof T as CamelCase<Name>]: RecordOf<T[Name]> }
      : T;

/**
 * How records are shown: the fields that the schema declares, by their names on the wire, and no others. The one place
 * where camelCase becomes snake_case; open parts of a schema (any JSON, maps, unions) stay as they are.
 */
export function shown<S extends z.ZodType>(schema: S): (record: RecordOf<Wire<S>>) => Wire<S> {
  const show = showerOf(schema);
  return (record) => show(record) as Wire<S>;
}

function showerOf(schema: unknown): (value: unknown) => unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    const show = showerOf(schema.unwrap());
    return (value) => (value === undefined || value === null ? value : show(value));
  }
  if (schema instanceof z.ZodArray) {
    const show = showerOf(schema.element);
    return (value) => (value as readonly unknown[]).map(show);
  }
  if (!(schema instanceof z.ZodObject) || !(schema.def.catchall instanceof z.ZodNever)) return (value) => value;
  const fields = Object.entries(schema.shape as Record<string, unknown>).map(
    ([name, field]) => [name, camelCase(name), showerOf(field)] as const,
  );
  return (value) => {
    const record = value as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      fields.flatMap(([name, ours, show]) => (record[ours] === undefined ? [] : [[name, show(record[ours])]])),
    );
  };
}
