import { z } from 'zod';
import { NAMED_KINDS, type NamedKind } from '../names.ts';

/** What ids are of: things with small numbers and names, or runs, which have numbers and workflow ids. */
export type IdentifiedKind = NamedKind | 'run';

/** What a field's ids are of; `isList`: separated by commas. */
interface NamedIds {
  readonly kind: IdentifiedKind;
  readonly isList: boolean;
}

const FIELDS = new WeakMap<z.ZodType, NamedIds>();

/** Marks a field of requests as one that takes names in place of ids. Mark it last: changed schemas are new ones. */
export function takesNames<S extends z.ZodType>(schema: S, of: string, isList = false): S {
  const kind = ([...NAMED_KINDS, 'run'] as const).find((one) => one === of);
  if (kind !== undefined) FIELDS.set(schema, { kind, isList });
  return schema;
}

/** Undefined for fields that take no names. */
export function namedIdsOf(schema: unknown): NamedIds | undefined {
  if (!(schema instanceof z.ZodType)) return undefined;
  const found = FIELDS.get(schema);
  if (found !== undefined) return found;
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? namedIdsOf(schema.unwrap()) : undefined;
}
