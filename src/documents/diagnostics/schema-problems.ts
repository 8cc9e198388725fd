import { z } from 'zod';
import type { DocumentPath } from '../yaml/places.js';
import { didYouMean } from './did-you-mean.js';

/** One way in which a value differs from its schema. */
export interface SchemaProblem {
  readonly severity: 'error' | 'warning';
  readonly code: SchemaProblemCode;
  readonly message: string;
  readonly hint?: string;
  readonly path: DocumentPath;
  /** Whether the key or the value at the path is the offending text. */
  readonly part: 'key' | 'value';
  /** The value that stands there; undefined when it is missing. */
  readonly found: unknown;
}

export type SchemaProblemCode =
  | 'document.missing-key'
  | 'document.wrong-type'
  | 'document.wrong-value'
  | 'document.unknown-key'
  | 'document.more-problems';

export type SchemaResult<Output> =
  | { readonly ok: true; readonly value: Output; readonly warnings: readonly SchemaProblem[] }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

export interface CheckOptions {
  /** Put before every path: where the value stands in its document. */
  readonly at?: DocumentPath;
  /** Also warn of keys that a schema lets pass but does not know. */
  readonly warnUnknownKeys?: boolean;
}

/** Checks a value against a zod schema; every problem in words a writer of documents understands. */
export function checkSchema<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  options: CheckOptions = {},
): SchemaResult<Output> {
  const at = options.at ?? [];
  const warnings = options.warnUnknownKeys ? unknownKeys(schema, value, at).slice(0, MAX_PROBLEMS) : [];
  const result = schema.safeParse(value, { reportInput: false });
  if (result.success) return { ok: true, value: result.data, warnings };
  const { issues } = result.error;
  const problems = issues
    .slice(0, MAX_PROBLEMS)
    .flatMap((issue) => describeIssue(issue as z.core.$ZodIssue, schema, value, at));
  if (issues.length > MAX_PROBLEMS) problems.push(moreProblems(issues.length - MAX_PROBLEMS, at));
  return { ok: false, problems: [...problems, ...warnings] };
}

/** Of one value; the rest is counted. */
const MAX_PROBLEMS = 500;

const moreProblems = (count: number, path: DocumentPath): SchemaProblem => ({
  severity: 'error',
  code: 'document.more-problems',
  message: `${count} more problem${count === 1 ? '' : 's'} of this kind in the document`,
  path,
  part: 'value',
  found: null,
});

/** `data.groups[2].depends_on[0]` */
export function formatPath(path: DocumentPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodType, root: unknown, at: DocumentPath): SchemaProblem[] {
  const inner = issue.path as (string | number)[];
  const path = [...at, ...inner];
  const found = valueAt(root, inner);
  const name = formatPath(path) || 'the document';
  const problem = (code: SchemaProblemCode, message: string, hint?: string): SchemaProblem[] => [
    { severity: 'error', code, message, path, part: 'value', found, ...(hint && { hint }) },
  ];
  if (found === undefined && issue.code !== 'unrecognized_keys') {
    const key = String(inner.at(-1) ?? at.at(-1) ?? '');
    const where = formatPath(path.slice(0, -1));
    const expected = schemaAt(schema, inner);
    return problem(
      'document.missing-key',
      `'${key}' is missing${where && ` in ${where}`}`,
      missingHint(key, expected, valueAt(root, inner.slice(0, -1)), schemaAt(schema, inner.slice(0, -1))),
    );
  }
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(schemaAt(schema, inner));
      return issue.keys.map((key) => ({
        severity: 'error',
        code: 'document.unknown-key',
        message: `unknown key '${key}'${path.length ? ` in ${formatPath(path)}` : ''}`,
        path: [...path, key],
        part: 'key',
        found: key,
        hint: didYouMean(key, known) ?? `Known keys: ${known.join(', ')}.`,
      }));
    }
    case 'invalid_type':
      return problem(
        'document.wrong-type',
        `${name} must be ${typeName(issue.expected)}, not ${describe(found)}`,
        typeHint(issue.expected, found),
      );
    case 'invalid_union': {
      const expected = schemaAt(schema, inner);
      const kinds = unionKinds(expected);
      return problem('document.wrong-type', `${name} must be ${kinds}, not ${describe(found)}`, typeHint(kinds, found));
    }
    case 'too_small': {
      if (issue.origin === 'string') return problem('document.wrong-value', `${name} must not be empty`);
      return problem('document.wrong-value', `${name} must be at least ${issue.minimum}, not ${describe(found)}`);
    }
    case 'too_big':
      if (issue.origin === 'array')
        return problem('document.wrong-value', `${name} must have at most ${issue.maximum} items`);
      return problem('document.wrong-value', `${name} must be at most ${issue.maximum}, not ${describe(found)}`);
    case 'invalid_value': {
      const values = issue.values.map(String);
      return problem(
        'document.wrong-value',
        `${name} must be ${values.map((value) => `'${value}'`).join(' or ')}, not ${describe(found)}`,
        typeof found === 'string' ? didYouMean(found, values) : undefined,
      );
    }
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
      return problem('document.wrong-value', `${name}: ${issue.message}`);
    case 'invalid_format':
      return problem('document.wrong-value', `${name} ${issue.message}, not ${describe(found)}`);
    case 'custom': {
      const hint: unknown = issue.params?.hint;
      return problem('document.wrong-value', `${name} ${issue.message}`, typeof hint === 'string' ? hint : undefined);
    }
  }
}

function missingHint(
  key: string,
  expected: z.ZodType | undefined,
  parent: unknown,
  schema: z.ZodType | undefined,
): string {
  const known = new Set(knownKeys(schema));
  const strangers = isMapping(parent) ? Object.keys(parent).filter((name) => !known.has(name)) : [];
  const misspelt = strangers.find((name) => didYouMean(name, [key]) !== undefined);
  if (misspelt !== undefined) return `There is a key '${misspelt}': did you mean '${key}'?`;
  const description = expected?.description;
  return `Add '${key}:'${expected ? ` (${schemaKind(expected)})` : ''}.${description ? ` ${description}` : ''}`;
}

function typeHint(expected: string, found: unknown): string | undefined {
  if (found === null && expected === 'array') return 'Nothing is written after the colon: write [] for an empty list.';
  if (found === null) return 'Nothing is written after the colon: leave the key out if nothing is meant.';
  if (expected.startsWith('string') || expected.startsWith('text')) {
    if (typeof found === 'boolean')
      return 'YAML reads yes, no, on, off, true and false as booleans: put quotes around the text.';
    if (typeof found === 'number') return 'YAML reads this as a number: put quotes around the text.';
  }
  if (expected === 'array') return "Begin each item with '- ', or write [ ].";
  if (expected === 'boolean' && typeof found === 'string' && /^(true|false|yes|no|on|off)$/i.test(found)) {
    return 'Remove the quotes.';
  }
  if ((expected === 'int' || expected === 'number') && typeof found === 'string' && /^\d+$/.test(found)) {
    return 'Remove the quotes.';
  }
  return undefined;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

const typeName = (type: string): string => TYPE_NAMES[type] ?? type;

/** A value as a person would name it. */
function describe(value: unknown): string {
  if (value === null) return 'empty';
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return `the text '${value.length > 60 ? `${value.slice(0, 60)}…` : value}'`;
  return String(value);
}

// --- the schema itself, as data ---

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  let current: unknown = schema;
  while (current instanceof z.ZodOptional || current instanceof z.ZodNullable || current instanceof z.ZodDefault) {
    current = current.unwrap();
  }
  return current as z.ZodType | undefined;
}

function schemaAt(schema: z.ZodType, path: DocumentPath): z.ZodType | undefined {
  let current = unwrap(schema);
  for (const step of path) {
    if (current instanceof z.ZodObject) current = unwrap((current.shape as Record<string, z.ZodType>)[String(step)]);
    else if (current instanceof z.ZodArray) current = unwrap(current.element as z.ZodType);
    else if (current instanceof z.ZodRecord) current = unwrap(current.valueType as z.ZodType);
    else return undefined;
  }
  return current;
}

const knownKeys = (schema: z.ZodType | undefined): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape as object) : [];

const schemaKind = (schema: z.ZodType): string =>
  schema instanceof z.ZodUnion ? unionKinds(schema) : typeName(schema instanceof z.ZodNumber ? 'int' : schema.type);

function unionKinds(schema: z.ZodType | undefined): string {
  if (!(schema instanceof z.ZodUnion)) return 'another kind of value';
  return (schema.options as z.ZodType[]).map((option) => typeName(option.type)).join(' or ');
}

function unknownKeys(schema: z.ZodType, value: unknown, path: DocumentPath): SchemaProblem[] {
  const plain = unwrap(schema);
  if (plain instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, index) => unknownKeys(plain.element as z.ZodType, item, [...path, index]));
  }
  if (!(plain instanceof z.ZodObject) || !isMapping(value)) return [];
  const shape = plain.shape as Record<string, z.ZodType>;
  const isStrict = plain.def.catchall instanceof z.ZodNever;
  const known = Object.keys(shape);
  return Object.entries(value).flatMap(([key, item]): SchemaProblem[] => {
    const next = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (next) return unknownKeys(next, item, [...path, key]);
    // A strict mapping's unknown keys are errors already.
    if (isStrict) return [];
    return [
      {
        severity: 'warning',
        code: 'document.unknown-key',
        message: `the key '${key}' means nothing here and is ignored`,
        hint: didYouMean(key, known) ?? `Known keys: ${known.join(', ')}.`,
        path: [...path, key],
        part: 'key',
        found: key,
      },
    ];
  });
}

function valueAt(root: unknown, path: DocumentPath): unknown {
  let value = root;
  for (const step of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
