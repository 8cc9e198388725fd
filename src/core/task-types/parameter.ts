import { didYouMean } from '../did-you-mean.js';
import { isMapping, type Mapping, printPath, type ValuePath } from '../plain-value.js';
import { allowedPath } from './allowed-path.js';

/** One parameter of a task type: how it is documented, checked and read. */
export interface Parameter<T> {
  /** For the documentation, in Markdown. */
  readonly meaning: string;
  /** What holds when it is not given, as the documentation shows it. Absent: it must be given. */
  readonly fallback?: string;
  /** Of a list: the parameters of each entry. */
  readonly entries?: Parameters;
  /** After a problem the value is a stand-in that is never used: a task with problems does not run. */
  read(place: Place): T;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What reading gives, by name. */
export type Values<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

/** Text, or the reference of a secret whose value is the text. */
export type Content = { readonly text: string } | { readonly secret: string };

export interface ParameterProblem {
  /** `unknown`: no one reads it; a node runs the task all the same. */
  readonly kind: 'wrong' | 'missing' | 'unknown';
  /** From `parameters`. */
  readonly path: ValuePath;
  readonly message: string;
  readonly hint: string;
}

/** How parameters are read. */
export interface Reading {
  /** The node they are for, where it is known. */
  readonly node?: string;
  /** Whether a value is still to be evaluated: what it will be is not judged. */
  readonly isOpen?: (value: unknown) => boolean;
}

/** Parameters planning adds to tasks of any type, or reads itself. */
const OF_ANY_TASK: readonly string[] = ['cwd', 'strategy'];

/** A value, where it stands, and where to report what is wrong with it. */
export class Place {
  readonly value: unknown;
  readonly path: ValuePath;
  readonly reading: Reading;
  readonly problems: ParameterProblem[];

  constructor(value: unknown, reading: Reading, path: ValuePath = [], problems: ParameterProblem[] = []) {
    this.value = value;
    this.path = path;
    this.reading = reading;
    this.problems = problems;
  }

  get name(): string {
    return printPath(this.path.slice(-1));
  }

  /** Reports a value that cannot be read; of several problems at one place the first, which the others follow from. */
  wrong(message: string, hint: string): undefined {
    if (this.value === undefined) this.#report('missing', `${this.name} is missing`, 'Add it.');
    else this.broken(message, hint);
  }

  /** Reports that a rule is broken, also by a value that was not given. */
  broken(message: string, hint: string): void {
    this.#report('wrong', message, hint);
  }

  below(step: string | number): Place {
    const inner =
      isMapping(this.value) || Array.isArray(this.value)
        ? Object.hasOwn(this.value, step)
          ? Reflect.get(this.value, step)
          : undefined
        : undefined;
    return new Place(inner ?? undefined, this.reading, [...this.path, step], this.problems);
  }

  /** Reads the parameters below, and reports keys that no one reads. */
  readAll<P extends Parameters>(known: P, given: Mapping): Values<P> {
    const values = Object.entries(known).map(([name, parameter]) => [name, parameter.read(this.below(name))]);
    for (const key of Object.keys(given)) {
      if (Object.hasOwn(known, key) || OF_ANY_TASK.includes(key)) continue;
      const names = Object.keys(known);
      const list = names.length === 0 ? 'There are none.' : `Known: ${names.join(', ')}.`;
      this.below(key).#report('unknown', `${key} is not a parameter of it`, didYouMean(key, names) ?? list);
    }
    return Object.fromEntries(values) as Values<P>;
  }

  #report(kind: ParameterProblem['kind'], message: string, hint: string): void {
    const path = printPath(this.path);
    if (this.problems.some((problem) => printPath(problem.path) === path)) return;
    this.problems.push({ kind, path: this.path, message, hint });
  }
}

/** @param parse undefined after it has reported what is wrong */
function parameter<T>(
  meaning: string,
  fallback: T | undefined,
  standIn: T,
  parse: (place: Place) => T | undefined,
  show: (value: T) => string = String,
): Parameter<T> {
  return {
    meaning,
    ...(fallback === undefined ? {} : { fallback: show(fallback) }),
    read: (place) => {
      const isLeftOut = place.value === undefined && fallback !== undefined;
      const isOpen = place.value !== undefined && place.reading.isOpen?.(place.value) === true;
      return (isLeftOut || isOpen ? undefined : parse(place)) ?? fallback ?? standIn;
    },
  };
}

/** One that may be left out without a value in its place; `instead` says what holds then. */
export const optional = <T>(inner: Parameter<T>, instead: string): Parameter<T | undefined> => ({
  ...inner,
  fallback: instead,
  read: (place) => (place.value === undefined ? undefined : inner.read(place)),
});

/** Any value: of those that other systems give and no one reads here. */
export const unused = (meaning: string): Parameter<undefined> => ({ meaning, fallback: '', read: () => undefined });

/** Never with NUL. */
export const text = (
  meaning: string,
  fallback?: string,
  rule?: (value: string, place: Place) => void,
): Parameter<string> =>
  parameter(
    meaning,
    fallback,
    '',
    (place) => {
      const { value, name } = place;
      if (typeof value !== 'string') return place.wrong(`${name} must be a text`, 'Put it in quotes.');
      if (value.includes('\0')) return place.wrong(`${name} holds a NUL character`, 'Remove it.');
      rule?.(value, place);
      return value;
    },
    (value) => (value === '' ? 'none' : `\`${value}\``),
  );

/** An operand of a program: not empty and not to be taken for an option. */
export const operand = (meaning: string, fallback?: string, rule?: (value: string, place: Place) => void) =>
  text(meaning, fallback, (value, place) => {
    if (value === '') place.wrong(`${place.name} must not be empty`, 'Give a value.');
    if (value.startsWith('-'))
      place.wrong(`${place.name} must not begin with -`, 'Begin a relative path with ./, better give an absolute one.');
    rule?.(value, place);
  });

/** An absolute path without detours. */
export const path = (meaning: string, fallback?: string, rule?: (value: string, place: Place) => void) =>
  text(meaning, fallback, (value, place) => {
    const broken = allowedPath(value);
    if (broken !== undefined) place.wrong(broken, 'Give the absolute path itself.');
    rule?.(value, place);
  });

/** A number from 0; digits as text count too, because YAML authors quote them. */
export const amount = (meaning: string, fallback: number): Parameter<number> =>
  parameter(meaning, fallback, 0, (place) => {
    const { value, name } = place;
    const number = typeof value === 'string' && /^\d{1,9}(\.\d+)?$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number) && number >= 0 && number < 1e9) return number;
    return place.wrong(`${name} must be a number from 0`, `Leave it out for ${fallback}.`);
  });

export const count = (meaning: string, fallback: number): Parameter<number> => {
  const any = amount(meaning, fallback);
  return {
    ...any,
    read: (place) => {
      const value = any.read(place);
      if (!Number.isInteger(value)) place.wrong(`${place.name} must be an integer`, `Leave it out for ${fallback}.`);
      return value;
    },
  };
};

export const flag = (meaning: string, fallback: boolean): Parameter<boolean> =>
  parameter(meaning, fallback, false, (place) =>
    typeof place.value === 'boolean'
      ? place.value
      : place.wrong(`${place.name} must be true or false`, `Leave it out for ${fallback}.`),
  );

/** File permissions: three or four octal digits, as text. */
export const permissions = (meaning: string, fallback?: number): Parameter<number> =>
  parameter(
    meaning,
    fallback,
    0,
    (place) => {
      const { value, name } = place;
      if (typeof value === 'string' && /^[0-7]{3,4}$/.test(value)) return Number.parseInt(value, 8);
      const hint =
        typeof value === 'number'
          ? 'Put it in quotes: without them YAML reads another number.'
          : 'Write it like "0644".';
      return place.wrong(`${name} must be three or four octal digits as text`, hint);
    },
    (value) => `\`"${value.toString(8).padStart(4, '0')}"\``,
  );

/** Text, or `{secret: REF}`. */
export const content = (meaning: string): Parameter<Content> =>
  parameter<Content>(meaning, undefined, { text: '' }, (place) => {
    const { value, name } = place;
    if (typeof value === 'string') return { text: value };
    if (isMapping(value) && typeof value.secret === 'string' && value.secret !== '' && Object.keys(value).length === 1)
      return { secret: value.secret };
    return place.wrong(`${name} must be a text or {secret: REF}`, 'Put it in quotes.');
  });

/** A list of mappings. */
export const list = <P extends Parameters>(meaning: string, entries: P): Parameter<readonly Values<P>[]> => ({
  ...parameter<readonly Values<P>[]>(meaning, undefined, [], (place) => {
    const { value, name, reading } = place;
    if (!Array.isArray(value)) return place.wrong(`${name} must be a list`, 'Begin each entry with a dash.');
    return value.flatMap((entry: unknown, at) => {
      const inner = place.below(at);
      if (isMapping(entry)) return reading.isOpen?.(entry) === true ? [] : [inner.readAll(entries, entry)];
      inner.wrong('must be an object', 'See docs/task-types.md.');
      return [];
    });
  }),
  entries,
});
