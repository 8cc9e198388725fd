import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { CONTROL } from '../text/control-characters.ts';
import { didYouMean } from '../text/did-you-mean.ts';
import { given } from './given.ts';
import { kindOf, type ValuePath, valueAt } from './plain-value.ts';

/** One way in which a value differs from its schema. */
export interface FieldProblem {
  readonly kind: 'missing' | 'unknown' | 'wrong';
  readonly path: ValuePath;
  /** The end of a sentence that starts with the location: `must be a list`. */
  readonly message: string;
  readonly hint?: string;
}

type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/**
 * Compares a value with its schema, for code that workflows run: zod/mini, which compiles nothing. Reports all differences. The value
 * of the answer is a copy without unknown fields.
 */
export function checkFields<S extends z.core.$ZodType>(schema: S, value: unknown): Checked<Wire<S>> {
  const ran = schema._zod.run({ value, issues: [] }, { async: false }) as z.core.ParsePayload;
  if (ran.issues.length === 0) return { ok: true, value: ran.value as Wire<S> };
  return {
    ok: false,
    problems: asSent(
      value,
      ran.issues.flatMap((issue) => problemsOf(issue, value)),
    ),
  };
}

/** What is missing first, then in the order of the fields. */
function asSent(root: unknown, problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const ranks = new Map<unknown, ReadonlyMap<string, number>>();
  const rankOf = (path: ValuePath, depth: number): number => {
    const step = path[depth];
    if (typeof step !== 'string') return step ?? -1;
    const parent = valueAt(root, path.slice(0, depth));
    const known = ranks.get(parent) ?? new Map(Object.keys(Object(parent)).map((name, at) => [name, at]));
    ranks.set(parent, known);
    return known.get(step) ?? -1;
  };
  return problems.toSorted((one, other) => {
    const depth = one.path.findIndex((step, at) => step !== other.path[at]);
    return depth < 0 ? 0 : rankOf(one.path, depth) - rankOf(other.path, depth);
  });
}

function problemsOf(issue: z.core.$ZodRawIssue, root: unknown): readonly FieldProblem[] {
  const path = (issue.path ?? []) as ValuePath;
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys((issue.inst as z.ZodMiniObject)._zod.def.shape);
    return issue.keys.map((name) => {
      const hint = didYouMean(name, known);
      return { kind: 'unknown', path: [...path, name], message: `(known: ${known.join(', ')})`, ...given({ hint }) };
    });
  }
  // Nothing of JSON is undefined.
  const kind = path.length > 0 && valueAt(root, path) === undefined ? 'missing' : 'wrong';
  const { error } = (issue.inst?._zod.def ?? {}) as { readonly error?: z.core.$ZodErrorMap };
  const own = issue.message ?? error?.(issue);
  if (own === undefined || own === null)
    return [{ kind, path, message: kind === 'missing' ? 'is missing' : wordsOf(issue) }];
  return [{ kind, path, ...(typeof own === 'string' ? { message: own } : own) }];
}

/** Of the issues of schemas that have no words of their own. */
function wordsOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'array' ? 'must be a list' : `must be an object, not ${kindOf(issue.input)}`;
    case 'invalid_value': {
      const words = issue.values.map((word) => JSON.stringify(word));
      return `must be ${[words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ')}`;
    }
    case 'invalid_union':
      return `must be one of ${(issue.options as readonly unknown[]).join(', ')}`;
    case 'too_small':
      return `must have at least ${issue.minimum}`;
    case 'too_big':
      return `must have at most ${issue.maximum}`;
    default:
      return 'is not valid';
  }
}

/** What a predicate checks. `message` ends a sentence that starts with the location: `must be …`. */
export const valueThat = /* @__NO_SIDE_EFFECTS__ */ <T>(
  fits: (value: unknown) => boolean,
  message: string | ((value: unknown) => string),
  hint?: string,
): z.ZodMiniCustom<T, T> =>
  z.custom<T>(fits, {
    // Rules about the whole are for a whole of which all parts are valid.
    abort: true,
    error: ({ input }) => ({ message: typeof message === 'string' ? message : message(input), ...given({ hint }) }),
  });

/** An additional rule, checked when all parts are valid. It returns the problem, or undefined. */
export const rule = /* @__NO_SIDE_EFFECTS__ */ <T>(why: (value: T) => string | undefined) =>
  z.check<T>(({ value, issues }) => {
    const message = why(value);
    if (message !== undefined) issues.push({ code: 'custom', input: value, message });
  });

const hasLength = (value: unknown, least: number, most: number): value is string =>
  typeof value === 'string' && value.length <= most && (least === 0 || value.trim().length >= least);

export const textOf = /* @__NO_SIDE_EFFECTS__ */ (most: number, least = 1) =>
  valueThat<string>((value) => hasLength(value, least, most), `must be text of ${least} to ${most} characters`);

/** A text without line breaks and other control characters. */
export const lineOf = /* @__NO_SIDE_EFFECTS__ */ (most: number, least = 1) =>
  valueThat<string>(
    (value) => hasLength(value, least, most) && !CONTROL.test(value),
    `must be one line of ${least} to ${most} characters`,
  );

const isWhole = (value: unknown, least: number): boolean => Number.isSafeInteger(value) && Number(value) >= least;
export const positiveInteger = valueThat<number>((value) => isWhole(value, 1), 'must be a whole number above 0');
export const limit = valueThat<number>((value) => isWhole(value, 0), 'must be a whole number, 0 for no limit');

export const text = z.string('must be text');
export const flag = z.boolean('must be true or false');
export const number = z.number('must be a number');
export const whole = z.int('must be a whole number');
export const time = valueThat<string>(
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  'must be a time',
);

export const texts = z.array(text);
export const wholes = z.array(whole);

export const listOf = /* @__NO_SIDE_EFFECTS__ */ <S extends z.core.$ZodType>(
  item: S,
  least = 0,
  most = Number.POSITIVE_INFINITY,
) => z.array(item).check(z.minLength(least, { abort: true }), z.maxLength(most, { abort: true }));

/** The same fields, none of them required. */
export const optional = /* @__NO_SIDE_EFFECTS__ */ <const F extends z.core.$ZodShape>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, z.exactOptional(field)])) as {
    readonly [K in keyof F]: z.ZodMiniExactOptional<F[K]>;
  };

/** One variant of a union of answers or failures. A newer version may send more fields. */
export const variant = /* @__NO_SIDE_EFFECTS__ */ <const K extends string, const F extends z.core.$ZodShape>(
  kind: K,
  fields: F,
) => z.object({ kind: z.literal(kind), ...fields });
