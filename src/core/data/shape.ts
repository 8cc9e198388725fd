import { CONTROL } from '../text/control-characters.ts';
import { didYouMean } from '../text/did-you-mean.ts';
import { given } from './given.ts';
import { isMapping, kindOf, type ValuePath } from './plain-value.ts';

/** One way in which a value differs from its shape. */
export interface ShapeProblem {
  readonly kind: 'missing' | 'unknown' | 'wrong';
  readonly path: ValuePath;
  /** The end of a sentence that starts with the location: `must be a list`. */
  readonly message: string;
  readonly hint?: string;
}

/** The required shape of a value, for code that runs without a schema library: workflows and src/core. */
export interface Shape<T> {
  readonly problems: (value: unknown, at: ValuePath) => readonly ShapeProblem[];
  /** Only for the compiler: the type of a valid value. */
  readonly valueType?: T;
}

type ShapeResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ShapeProblem[] };

/** Compares a value with its shape. Reports all differences. */
export function checkShape<T>(shape: Shape<T>, value: unknown): ShapeResult<T> {
  const problems = shape.problems(value, []);
  return problems.length === 0 ? { ok: true, value: value as T } : { ok: false, problems };
}

/** A shape that a predicate checks. `message` ends a sentence that starts with the location: `must be …`. */
export const valueThat = <T>(
  fits: (value: unknown) => boolean,
  message: string | ((value: unknown) => string),
  hint?: string,
): Shape<T> => ({
  problems: (value, path) =>
    fits(value)
      ? []
      : [
          {
            kind: 'wrong',
            path,
            message: typeof message === 'string' ? message : message(value),
            ...given({ hint }),
          },
        ],
});

const isWhole = (value: unknown, least: number): boolean => Number.isSafeInteger(value) && Number(value) >= least;

const hasLength = (value: unknown, least: number, most: number): value is string =>
  typeof value === 'string' && value.length <= most && (least === 0 || value.trim().length >= least);

export const textOf = (most: number, least = 1): Shape<string> =>
  valueThat((value) => hasLength(value, least, most), `must be text of ${least} to ${most} characters`);

/** A text without line breaks and other control characters. */
export const lineOf = (most: number, least = 1): Shape<string> =>
  valueThat(
    (value) => hasLength(value, least, most) && !CONTROL.test(value),
    `must be one line of ${least} to ${most} characters`,
  );
export const flag = valueThat<boolean>((value) => typeof value === 'boolean', 'must be true or false');
export const positiveInteger = valueThat<number>((value) => isWhole(value, 1), 'must be a whole number above 0');
export const limit = valueThat<number>((value) => isWhole(value, 0), 'must be a whole number, 0 for no limit');

export function oneOf<const T extends string>(words: readonly T[]): Shape<T> {
  const named = words.map((word) => `"${word}"`);
  const message = `must be ${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
  return valueThat<T>((value) => words.some((word) => word === value), message);
}

/** A list of items of one shape. */
export const listOf = <T>(item: Shape<T>, least = 0, most = Number.POSITIVE_INFINITY): Shape<readonly T[]> => ({
  problems: (value, path) => {
    if (!Array.isArray(value)) return [{ kind: 'wrong', path, message: 'must be a list' }];
    if (value.length < least) return [{ kind: 'wrong', path, message: `must have at least ${least}` }];
    if (value.length > most) return [{ kind: 'wrong', path, message: `must have at most ${most}` }];
    return value.flatMap((one, index) => item.problems(one, [...path, index]));
  },
});

/** An object with these fields and no others. Fields that are not `required` are optional. */
export const objectOf = <T extends object>(
  fields: { readonly [Key in keyof T]-?: Shape<Exclude<T[Key], undefined>> },
  required: readonly (keyof T & string)[] = [],
): Shape<T> => {
  const known = new Map<string, Shape<unknown>>(Object.entries(fields));
  return {
    problems: (value, path) => {
      if (!isMapping(value)) return [{ kind: 'wrong', path, message: 'must be an object' }];
      return [
        ...required
          .filter((name) => !Object.hasOwn(value, name))
          .map((name): ShapeProblem => ({ kind: 'missing', path: [...path, name], message: 'is missing' })),
        ...Object.entries(value).flatMap(([name, one]): readonly ShapeProblem[] => {
          const here = [...path, name];
          const shape = known.get(name);
          if (shape !== undefined) return shape.problems(one, here);
          const message = `(known: ${[...known.keys()].join(', ')})`;
          const hint = didYouMean(name, known.keys());
          return [{ kind: 'unknown', path: here, message, ...given({ hint }) }];
        }),
      ];
    },
  };
};

/** A shape with an additional rule, checked when all parts are valid. The rule returns the problem, or undefined. */
export const withRule = <T>(shape: Shape<T>, rule: (value: T) => string | undefined): Shape<T> => ({
  problems: (value, path) => {
    const found = shape.problems(value, path);
    if (found.length > 0) return found;
    const message = rule(value as T);
    return message === undefined ? [] : [{ kind: 'wrong', path, message }];
  },
});

type OptionalKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];

/** The shapes of the required fields of `T`. The compiler names the ones that are left out. */
type RequiredShapes<T> = { readonly [K in Exclude<keyof T, OptionalKeys<T>>]: Shape<T[K]> };
type OptionalShapes<T> = { readonly [K in OptionalKeys<T>]: Shape<Exclude<T[K], undefined>> };

/** An object of another program of ours: it has these fields, and a newer version may send more. */
export const recordOf = <T extends object>(required: RequiredShapes<T>, optional: OptionalShapes<T>): Shape<T> => {
  const needed = Object.entries<Shape<unknown>>(required);
  const others = Object.entries<Shape<unknown>>(optional);
  return {
    problems: (value, path) => {
      if (!isMapping(value)) return [{ kind: 'wrong', path, message: `must be an object, not ${kindOf(value)}` }];
      const found: ShapeProblem[] = [];
      for (const [name, shape] of needed) {
        if (Object.hasOwn(value, name)) found.push(...shape.problems(value[name], [...path, name]));
        else found.push({ kind: 'missing', path: [...path, name], message: 'is missing' });
      }
      for (const [name, shape] of others) {
        if (value[name] !== undefined) found.push(...shape.problems(value[name], [...path, name]));
      }
      return found;
    },
  };
};

/** One shape for each value of the field that distinguishes the variants. */
export const variantsOf = <K extends string, T extends { readonly [key in K]: string | boolean }>(
  key: K,
  shapes: {
    readonly [V in `${T[K]}`]: Shape<
      Extract<T, { readonly [key in K]: V extends `${infer B extends boolean}` ? B | V : V }>
    >;
  },
): Shape<T> => {
  const known = new Map(Object.entries<Shape<unknown>>(shapes));
  return {
    problems: (value, path) => {
      if (!isMapping(value)) return [{ kind: 'wrong', path, message: `must be an object, not ${kindOf(value)}` }];
      if (!Object.hasOwn(value, key)) return [{ kind: 'missing', path: [...path, key], message: 'is missing' }];
      const shape = known.get(String(value[key]));
      if (shape !== undefined) return shape.problems(value, path);
      return [{ kind: 'wrong', path: [...path, key], message: `must be one of ${[...known.keys()].join(', ')}` }];
    },
  };
};

export const nullable = <T>(shape: Shape<T>): Shape<T | null> => ({
  problems: (value, path) => (value === null ? [] : shape.problems(value, path)),
});

/** An object whose values all have one shape. */
export const mapOf = <T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> => ({
  problems: (value, path) =>
    isMapping(value)
      ? Object.entries(value).flatMap(([name, one]) => shape.problems(one, [...path, name]))
      : [{ kind: 'wrong', path, message: `must be an object, not ${kindOf(value)}` }],
});
