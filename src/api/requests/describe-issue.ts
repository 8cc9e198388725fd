import { z } from 'zod';
import type { Diagnostic } from '../../core/diagnostic.js';
import { type DocumentPath, didYouMean, formatPath } from '../../documents/index.js';

/** A zod issue in words for whoever wrote the request; `part` is what it was found in: path, query or body. */
export function describeIssue(
  issue: z.core.$ZodIssue,
  schema: z.ZodType,
  root: unknown,
  part: 'path' | 'query' | 'body',
): Diagnostic[] {
  const inner = issue.path as (string | number)[];
  const path = formatPath([part, ...inner]);
  const name = inner.length === 0 ? `the ${part}` : formatPath(inner);
  const found = valueAt(root, inner);
  const finding = (code: string, message: string, hint?: string): Diagnostic[] => [
    { severity: 'error', code: `request.${code}`, message, path, ...(hint === undefined ? {} : { hint }) },
  ];
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schemaAt(schema, inner));
    return issue.keys.map((key) => ({
      severity: 'error',
      code: 'request.unknown-field',
      message: `unknown field '${cut(key)}' in ${name}`,
      hint: didYouMean(key, known) ?? (known.length === 0 ? 'It takes none.' : `Known: ${known.join(', ')}.`),
      path: formatPath([part, ...inner, cut(key)]),
    }));
  }
  if (found === undefined) {
    const description = schemaAt(schema, inner)?.description;
    return finding('missing-field', `${name} is missing in the ${part}`, description);
  }
  const but = `, not ${describe(found)}`;
  switch (issue.code) {
    case 'invalid_type':
      return finding('wrong-type', `${name} must be ${typeName(issue.expected)}${but}`);
    case 'invalid_union':
      return finding('wrong-type', `${name} must be ${unionKinds(schemaAt(schema, inner))}${but}`);
    case 'invalid_value': {
      const values = issue.values.map(String);
      const hint = typeof found === 'string' ? didYouMean(found, values) : undefined;
      return finding('wrong-value', `${name} must be ${values.join(' or ')}${but}`, hint);
    }
    case 'too_small':
      if (issue.origin === 'string') return finding('wrong-value', `${name} must not be empty`);
      if (issue.origin === 'array') return finding('wrong-value', `${name} must have at least ${issue.minimum} items`);
      return finding('wrong-value', `${name} must be at least ${issue.minimum}${but}`);
    case 'too_big':
      if (issue.origin === 'string')
        return finding('wrong-value', `${name} must have at most ${issue.maximum} characters`);
      if (issue.origin === 'array') return finding('wrong-value', `${name} must have at most ${issue.maximum} items`);
      return finding('wrong-value', `${name} must be at most ${issue.maximum}${but}`);
    default:
      return finding('wrong-value', `${name} ${issue.message}${but}`);
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const typeName = (type: string): string => TYPE_NAMES[type] ?? type;

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? `the text '${cut(value)}'` : String(value);
}

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  let current: unknown = schema;
  while (current instanceof z.ZodOptional || current instanceof z.ZodNullable) current = current.unwrap();
  return current as z.ZodType | undefined;
}

function schemaAt(schema: z.ZodType, path: DocumentPath): z.ZodType | undefined {
  let current = unwrap(schema);
  for (const step of path) {
    if (current instanceof z.ZodObject) current = unwrap((current.shape as Record<string, z.ZodType>)[String(step)]);
    else if (current instanceof z.ZodArray) current = unwrap(current.element as z.ZodType);
    else return undefined;
  }
  return current;
}

const knownKeys = (schema: z.ZodType | undefined): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape as object) : [];

const unionKinds = (schema: z.ZodType | undefined): string =>
  schema instanceof z.ZodUnion
    ? (schema.options as z.ZodType[])
        .map((option) => typeName(option instanceof z.ZodNumber ? 'int' : option.type))
        .join(' or ')
    : 'another kind of value';

function valueAt(root: unknown, path: DocumentPath): unknown {
  let value = root;
  for (const step of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
