import { isMapping, type Mapping, printPath, type ValuePath } from '../data/plain-value.ts';
import { didYouMean } from '../text/did-you-mean.ts';
import { allowedPath } from './allowed-path.ts';

/** One parameter of a task type: how it is documented, checked and read. */
export interface Parameter<T> {
  /** For the documentation, in Markdown. */
  readonly meaning: string;
  /** The default, as the documentation shows it. Absent: the parameter is required. */
  readonly fallback?: string;
  /** Of a list: the parameters of each entry. */
  readonly entries?: Parameters;
  /** Returns a placeholder after a problem; it is never used, since a task with problems does not run. */
  read(place: Place): T;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The values read, by name. */
export type Values<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

/** Text, or the reference of a secret whose value is the text. */
export type Content = { readonly text: string } | { readonly secret: string };

export interface ParameterProblem {
  /** `unknown`: the parameter is not used; a node runs the task anyway. */
  readonly kind: 'wrong' | 'missing' | 'unknown';
  /** Relative to `parameters`. */
  readonly path: ValuePath;
  readonly message: string;
  readonly hint: string;
}

/** Options for reading parameters. */
export interface Reading {
  /** The node they are for, if known. */
  readonly node?: string;
  /** Whether a value is still to be evaluated: it is not checked then. */
  readonly isOpen?: (value: unknown) => boolean;
}

/** Parameters that planning adds to tasks of any type, or reads itself. */
const OF_ANY_TASK: readonly string[] = ['cwd', 'strategy'];

/** A value with its path and the list for its problems. */
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

  /** Reports a value that cannot be read. Only the first problem of a path is reported; others follow from it. */
  wrong(message: string, hint: string): undefined {
    if (this.value === undefined) this.#report('missing', `${this.name} is missing`, 'Add it.');
    else this.broken(message, hint);
  }

  /** Reports a broken rule, even if the value is missing. */
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

  /** Reads the parameters below, and reports unknown keys. */
  readAll<P extends Parameters>(known: P, given: Mapping): Values<P> {
    const values = Object.entries(known).map(([name, parameter]) => [name, parameter.read(this.below(name))]);
    for (const key of Object.keys(given)) {
      if (Object.hasOwn(known, key) || OF_ANY_TASK.includes(key)) continue;
      const names = Object.keys(known);
      const list = names.length === 0 ? 'There are none.' : `Known: ${names.join(', ')}.`;
      this.below(key).#report('unknown', `${key} is not a known parameter`, didYouMean(key, names) ?? list);
    }
    return Object.fromEntries(values) as Values<P>;
  }

  #report(kind: ParameterProblem['kind'], message: string, hint: string): void {
    const path = printPath(this.path);
    if (this.problems.some((problem) => printPath(problem.path) === path)) return;
    this.problems.push({ kind, path: this.path, message, hint });
  }
}

/** @param parse returns undefined after reporting a problem */
function parameter<T>(
  meaning: string,
  fallback: T | undefined,
  placeholder: T,
  parse: (place: Place) => T | undefined,
  show: (value: T) => string = String,
): Parameter<T> {
  return {
    meaning,
    ...(fallback === undefined ? {} : { fallback: show(fallback) }),
    read: (place) => {
      const isLeftOut = place.value === undefined && fallback !== undefined;
      const isOpen = place.value !== undefined && place.reading.isOpen?.(place.value) === true;
      return (isLeftOut || isOpen ? undefined : parse(place)) ?? fallback ?? placeholder;
    },
  };
}

/** A parameter that may be omitted and has no default value; `instead` documents what applies then. */
export const optional = <T>(inner: Parameter<T>, instead: string): Parameter<T | undefined> => ({
  ...inner,
  fallback: instead,
  read: (place) => (place.value === undefined ? undefined : inner.read(place)),
});

/** A parameter that other systems give and that is not used here. */
export const unused = (meaning: string): Parameter<undefined> => ({ meaning, fallback: '', read: () => undefined });

/** Text without NUL. */
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
      if (typeof value !== 'string') return place.wrong(`${name} must be text`, 'Put it in quotes.');
      if (value.includes('\0')) return place.wrong(`${name} contains a NUL character`, 'Remove it.');
      rule?.(value, place);
      return value;
    },
    (value) => (value === '' ? 'none' : `\`${value}\``),
  );

/** An operand of a program: not empty, and not to be mistaken for an option. */
export const operand = (meaning: string, fallback?: string, rule?: (value: string, place: Place) => void) =>
  text(meaning, fallback, (value, place) => {
    if (value === '') place.wrong(`${place.name} must not be empty`, 'Give a value.');
    if (value.startsWith('-'))
      place.wrong(
        `${place.name} must not start with -`,
        'Start a relative path with ./, or better, use an absolute path.',
      );
    rule?.(value, place);
  });

/** An absolute path without `.` and `..`. */
export const path = (meaning: string, fallback?: string, rule?: (value: string, place: Place) => void) =>
  text(meaning, fallback, (value, place) => {
    const broken = allowedPath(value);
    if (broken !== undefined) place.wrong(broken, 'Give the absolute path itself.');
    rule?.(value, place);
  });

/** A path from the working directory of the task, or an absolute one; in both without `.` and `..`. */
export const pathFrom = (meaning: string) =>
  operand(meaning, undefined, (value, place) => {
    const broken = pathFromProblem(value);
    if (broken !== undefined) place.wrong(broken, 'Give the path itself, absolute or from cwd.');
  });

/** Such paths, joined by `:`; `.` is the working directory. */
export const pathsFrom = (meaning: string, fallback: string) =>
  operand(meaning, fallback, (value, place) => {
    if (value.split(':').every((one) => one === '.' || pathFromProblem(one) === undefined)) return;
    place.wrong(`${place.name} must be paths joined by :, without ..`, 'Give absolute paths, or paths from cwd.');
  });

function pathFromProblem(value: string): string | undefined {
  if (value.startsWith('/')) return allowedPath(value);
  if (!/^[\w.+,@%=~/-]+$/.test(value)) return 'a relative path has letters, digits and . _ - + , @ % = ~ only';
  return allowedPath(`/${value}`);
}

/** A number from 0; also accepts digits as text, because YAML authors quote them. */
export const amount = (meaning: string, fallback: number): Parameter<number> =>
  parameter(meaning, fallback, 0, (place) => {
    const { value, name } = place;
    const number = typeof value === 'string' && /^\d{1,9}(\.\d+)?$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number) && number >= 0 && number < 1e9) return number;
    return place.wrong(`${name} must be a number from 0`, `Omit it for the default, ${fallback}.`);
  });

export const count = (meaning: string, fallback: number): Parameter<number> => {
  const any = amount(meaning, fallback);
  return {
    ...any,
    read: (place) => {
      const value = any.read(place);
      if (!Number.isInteger(value))
        place.wrong(`${place.name} must be an integer`, `Omit it for the default, ${fallback}.`);
      return value;
    },
  };
};

export const flag = (meaning: string, fallback: boolean): Parameter<boolean> =>
  parameter(meaning, fallback, false, (place) =>
    typeof place.value === 'boolean'
      ? place.value
      : place.wrong(`${place.name} must be true or false`, `Omit it for the default, ${fallback}.`),
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
          ? 'Put it in quotes: without them, YAML reads a different number.'
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
    return place.wrong(`${name} must be text or {secret: REF}`, 'Put it in quotes.');
  });

/** A list of mappings. */
export const list = <P extends Parameters>(meaning: string, entries: P): Parameter<readonly Values<P>[]> => ({
  ...parameter<readonly Values<P>[]>(meaning, undefined, [], (place) => {
    const { value, name, reading } = place;
    if (!Array.isArray(value)) return place.wrong(`${name} must be a list`, 'Start each entry with a dash.');
    return value.flatMap((entry: unknown, at) => {
      const inner = place.below(at);
      if (isMapping(entry)) return reading.isOpen?.(entry) === true ? [] : [inner.readAll(entries, entry)];
      inner.wrong('must be an object', 'See docs/reference/task-types.md.');
      return [];
    });
  }),
  entries,
});
