import { z } from 'zod';
import { given } from '../../core/data/given.ts';
import { isMapping, printPath, type ValuePath, valueAt } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { isSecretKey } from '../../core/text/secrets.ts';

/** One way in which a value differs from its schema. */
export interface SchemaProblem {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path: ValuePath;
  /** Whether the key or the value at the path is the offending text. */
  readonly part: 'key' | 'value';
  readonly kind: ProblemKind;
  /** The value at the path; undefined when it is missing. */
  readonly found: unknown;
}

type ProblemKind = 'missing' | 'wrong-type' | 'wrong-value' | 'unknown' | 'more';

type SchemaResult<Output> =
  | { readonly ok: true; readonly value: Output; readonly warnings: readonly SchemaProblem[] }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Wording of problems for the author of the value: a document, a request or a setting. */
export interface SchemaWords {
  readonly codes: Readonly<Record<ProblemKind, string>>;
  /** Word for an object. */
  readonly mapping: string;
  /** Word for null. */
  readonly empty: string;
  /** Word for a member of an object. */
  readonly key: string;
  /** Name of the value at a path. */
  readonly nameOf: (path: ValuePath) => string;
  readonly missing: (path: ValuePath) => string;
  readonly unknownIn: (path: ValuePath) => string;
  /** Advice for a reader of YAML: quotes, brackets, keys to add. */
  readonly yamlHints: boolean;
  /** False for secrets such as passwords and tokens. Default true. */
  readonly showsValues?: boolean;
}

export const DOCUMENT_WORDS: SchemaWords = {
  codes: {
    missing: 'document.missing-key',
    'wrong-type': 'document.wrong-type',
    'wrong-value': 'document.wrong-value',
    unknown: 'document.unknown-key',
    more: 'document.more-problems',
  },
  mapping: 'a mapping',
  empty: 'empty',
  key: 'key',
  nameOf: (path) => printPath(path) || 'the document',
  missing: (path) => {
    const where = printPath(path.slice(0, -1));
    return `'${path.at(-1) ?? ''}' is missing${where && ` in ${where}`}`;
  },
  unknownIn: (path) => (path.length === 0 ? '' : ` in ${printPath(path)}`),
  yamlHints: true,
};

interface CheckOptions {
  /** Prefix of every path: where the value is in its document. */
  readonly at?: ValuePath;
  /** Also warn about keys that the schema allows but does not know. */
  readonly warnUnknownKeys?: boolean;
  readonly words?: SchemaWords;
}

/** Checks a value against a zod schema and words every problem for the author of the value. */
export function checkSchema<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  options: CheckOptions = {},
): SchemaResult<Output> {
  const { at = [], words = DOCUMENT_WORDS } = options;
  const warnings = options.warnUnknownKeys ? unknownKeys(schema, value, at).slice(0, MAX_PROBLEMS) : [];
  const result = schema.safeParse(value, { reportInput: false });
  if (result.success) return { ok: true, value: result.data, warnings };
  const { issues } = result.error;
  const problems: SchemaProblem[] = issues
    .slice(0, MAX_PROBLEMS)
    .flatMap((issue) => describeIssue(issue, schema, value, at, words));
  const more = issues.length - MAX_PROBLEMS;
  if (more > 0) {
    problems.push({
      severity: 'error',
      code: words.codes.more,
      message: `${more} more problem${more === 1 ? '' : 's'} of this kind in the document`,
      path: at,
      part: 'value',
      kind: 'more',
      found: null,
    });
  }
  return { ok: false, problems: [...problems, ...warnings] };
}

/** A problem that has no place in a text. */
export const unplaced = ({ severity, code, message, hint, path }: SchemaProblem): Diagnostic => ({
  severity,
  code,
  message,
  ...given({ hint }),
  ...(path.length === 0 ? {} : { path: printPath(path) }),
});

/** Limit for one value; further problems are only counted. */
const MAX_PROBLEMS = 500;

function describeIssue(
  issue: z.core.$ZodIssue,
  schema: z.ZodType,
  root: unknown,
  at: ValuePath,
  words: SchemaWords,
): SchemaProblem[] {
  const inner = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  const path = [...at, ...inner];
  const expected = schemaAt(schema, inner);
  const found = valueAt(root, inner);
  const problem = (kind: ProblemKind, message: string, hint?: string | false): SchemaProblem[] => [
    { severity: 'error', code: words.codes[kind], message, path, part: 'value', kind, found, ...(hint && { hint }) },
  ];
  if (issue.code === 'unrecognized_keys') return unrecognized(issue.keys, path, knownKeys(expected), words);
  if (found === undefined) {
    const hint = words.yamlHints
      ? missingHint(path, expected, valueAt(root, inner.slice(0, -1)), schemaAt(schema, inner.slice(0, -1)), words)
      : expected?.description;
    return problem('missing', words.missing(path), hint);
  }
  const must = `${words.nameOf(path)} must`;
  const isSecret = path.some((step) => typeof step === 'string' && isSecretKey(step));
  const but = words.showsValues === false || isSecret ? '' : `, not ${describe(found, words)}`;
  switch (issue.code) {
    case 'invalid_type':
      return problem(
        'wrong-type',
        `${must} be ${typeName(issue.expected, words)}${but}`,
        words.yamlHints && typeHint(issue.expected, found),
      );
    case 'invalid_union': {
      // Where the kind of value fits one of them, it says what else is wrong.
      const [fitting, ...others] = issue.errors.filter((errors) => !errors.some((one) => isOfKind(one, found)));
      if (fitting !== undefined && others.length === 0)
        return fitting.flatMap((one) =>
          describeIssue({ ...one, path: [...issue.path, ...one.path] }, schema, root, at, words),
        );
      const kinds = unionKinds(expected, words);
      return problem('wrong-type', `${must} be ${kinds}${but}`, words.yamlHints && typeHint(kinds, found));
    }
    case 'invalid_value': {
      const values = issue.values.map(String);
      const choices = values.map((value) => (words.yamlHints ? `'${value}'` : value)).join(' or ');
      return problem(
        'wrong-value',
        `${must} be ${choices}${but}`,
        typeof found === 'string' && didYouMean(found, values),
      );
    }
    case 'too_small':
    case 'too_big':
      return problem('wrong-value', `${must} ${boundText(issue, but)}`);
    case 'invalid_format':
      return problem('wrong-value', `${words.nameOf(path)} ${issue.message}${but}`);
    case 'custom': {
      const hint: unknown = issue.params?.hint;
      const shown = words.yamlHints ? '' : but;
      return problem(
        'wrong-value',
        `${words.nameOf(path)} ${issue.message}${shown}`,
        typeof hint === 'string' ? hint : undefined,
      );
    }
    default:
      return problem('wrong-value', `${words.nameOf(path)} is not valid: ${issue.message}`);
  }
}

const unrecognized = (keys: readonly string[], path: ValuePath, known: readonly string[], words: SchemaWords) =>
  keys.map(
    (key): SchemaProblem => ({
      severity: 'error',
      code: words.codes.unknown,
      message: `unknown ${words.key} '${cut(key)}'${words.unknownIn(path)}`,
      path: [...path, cut(key)],
      part: 'key',
      kind: 'unknown',
      found: key,
      hint: didYouMean(key, known) ?? knownHint(known, words),
    }),
  );

function boundText(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, but: string): string {
  if (issue.code === 'too_small') {
    if (issue.origin === 'string') return 'not be empty';
    return issue.origin === 'array' ? `have at least ${items(issue.minimum)}` : `be at least ${issue.minimum}${but}`;
  }
  if (issue.origin === 'string') return `have at most ${issue.maximum} characters`;
  return issue.origin === 'array' ? `have at most ${items(issue.maximum)}` : `be at most ${issue.maximum}${but}`;
}

/** Whether it says that the whole value is of another kind. */
const isOfKind = ({ code, path }: z.core.$ZodIssue, found: unknown): boolean =>
  path.length === 0 && (code === 'invalid_type' || (code === 'invalid_value' && typeof found !== 'string'));

const items = (count: number | bigint): string => `${count} item${count === 1 ? '' : 's'}`;

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

function knownHint(known: readonly string[], words: SchemaWords): string {
  if (words.yamlHints) return `Known keys: ${known.join(', ')}.`;
  return known.length === 0 ? 'It takes none.' : `Known: ${known.join(', ')}.`;
}

function missingHint(
  path: ValuePath,
  expected: z.ZodType | undefined,
  parent: unknown,
  schema: z.ZodType | undefined,
  words: SchemaWords,
): string {
  const key = String(path.at(-1) ?? '');
  const known = new Set(knownKeys(schema));
  const unexpected = isMapping(parent) ? Object.keys(parent).filter((name) => !known.has(name)) : [];
  const misspelt = unexpected.find((name) => didYouMean(name, [key]) !== undefined);
  if (misspelt !== undefined) return `There is a key '${misspelt}': did you mean '${key}'?`;
  const description = expected?.description;
  return `Add '${key}:'${expected ? ` (${schemaKind(expected, words)})` : ''}.${description ? ` ${description}` : ''}`;
}

function typeHint(expected: string, found: unknown): string | undefined {
  if (found === null && expected === 'array') return 'There is nothing after the colon: write [] for an empty list.';
  if (found === null) return 'There is nothing after the colon: remove the key if it has no value.';
  if (expected.startsWith('string') || expected.startsWith('text')) {
    if (typeof found === 'boolean')
      return 'YAML reads yes, no, on, off, true and false as booleans: put the text in quotes.';
    if (typeof found === 'number') return 'YAML reads this as a number: put the text in quotes.';
  }
  if (expected === 'array') return "Start each item with '- ', or write [ ].";
  if (expected === 'boolean' && typeof found === 'string' && /^(true|false|yes|no|on|off)$/i.test(found)) {
    return 'Remove the quotes.';
  }
  if ((expected === 'int' || expected === 'number') && typeof found === 'string' && /^\d+$/.test(found)) {
    return 'Remove the quotes.';
  }
  const percent = typeof found === 'string' ? /^(\d{1,3})\s*%$/.exec(found) : null;
  if (percent !== null) return `Write the number alone: ${percent[1]}.`;
  return undefined;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  array: 'a list',
};

const typeName = (type: string, words: SchemaWords): string =>
  type === 'object' || type === 'record' ? words.mapping : (TYPE_NAMES[type] ?? type);

/** Describes a value for people. */
function describe(value: unknown, words: SchemaWords): string {
  if (value === null) return words.empty;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return words.mapping;
  return typeof value === 'string' ? `the text '${cut(value)}'` : String(value);
}

// --- the schema itself, as data ---

function unwrap(schema: unknown): z.ZodType | undefined {
  let current = schema;
  while (current instanceof z.ZodOptional || current instanceof z.ZodNullable || current instanceof z.ZodDefault) {
    current = current.unwrap();
  }
  return current instanceof z.ZodType ? current : undefined;
}

function schemaAt(schema: z.ZodType, path: ValuePath): z.ZodType | undefined {
  let current = unwrap(schema);
  for (const step of path) {
    if (current instanceof z.ZodObject) current = unwrap(current.shape[String(step)]);
    else if (current instanceof z.ZodArray) current = unwrap(current.element);
    else if (current instanceof z.ZodRecord) current = unwrap(current.valueType);
    else return undefined;
  }
  return current;
}

const knownKeys = (schema: z.ZodType | undefined): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

const schemaKind = (schema: z.ZodType, words: SchemaWords): string =>
  schema instanceof z.ZodUnion
    ? unionKinds(schema, words)
    : typeName(schema instanceof z.ZodNumber ? 'int' : schema.type, words);

function unionKinds(schema: z.ZodType | undefined, words: SchemaWords): string {
  if (!(schema instanceof z.ZodUnion)) return 'another kind of value';
  return (schema.options as readonly z.ZodType[]).map((option) => schemaKind(option, words)).join(' or ');
}

function unknownKeys(schema: unknown, value: unknown, path: ValuePath): SchemaProblem[] {
  const plain = unwrap(schema);
  if (plain instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, index) => unknownKeys(plain.element, item, [...path, index]));
  }
  if (!(plain instanceof z.ZodObject) || !isMapping(value)) return [];
  const { shape } = plain;
  const isStrict = plain.def.catchall instanceof z.ZodNever;
  const known = Object.keys(shape);
  return Object.entries(value).flatMap(([key, item]): SchemaProblem[] => {
    if (Object.hasOwn(shape, key)) return unknownKeys(shape[key], item, [...path, key]);
    // A strict mapping's unknown keys are errors already.
    if (isStrict) return [];
    return [
      {
        severity: 'warning',
        code: DOCUMENT_WORDS.codes.unknown,
        message: `the key '${key}' is not known here and is ignored`,
        hint: didYouMean(key, known) ?? `Known keys: ${known.join(', ')}.`,
        path: [...path, key],
        part: 'key',
        kind: 'unknown',
        found: key,
      },
    ];
  });
}
