/** A schema of an OpenAPI description, as far as an outline shows it. */
interface Schema {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Content {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Content>>;
  };
}

/** Keywords that a line shows by their place in it; all others but these texts for people are shown by name. */
const SHOWN = new Set(
  ['$ref', 'type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'items', 'prefixItems'].concat(
    ['anyOf', 'oneOf'],
    ['description', 'title', 'example', 'examples'],
  ),
);

/**
 * Paths, operations, parameters, fields and codes of an API, one a line and without its texts for people: what a client depends on,
 * in a form in which a person sees what a change does to clients.
 */
export function openapiOutline({ paths, components }: Described): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      [
        `${method.toUpperCase()} ${path} ${operation.operationId}`,
        ...linesOf(operation).map((line) => `  ${line}`),
      ].join('\n'),
    ),
  );
  const named = [
    ...Object.entries(components.responses).map(([name, one]) => `response ${name}: ${contentText(one)}`),
    ...Object.entries(components.schemas).map(([name, schema]) =>
      [`${name}: ${typeText(schema)}`, ...fieldsOf(schema).map((line) => `  ${line}`)].join('\n'),
    ),
  ];
  return `${[...operations.sort(), ...named.sort()].join('\n\n')}\n`;
}

function linesOf({ parameters = [], requestBody, responses }: Operation): string[] {
  const taken = parameters
    .map((one) => `${one.in} ${one.name}${one.required ? '' : '?'}: ${typeText(one.schema)}`)
    .sort();
  const body = requestBody && [
    `body${requestBody.required ? '' : '?'} ${contentText(requestBody)}`,
    ...contentFields(requestBody),
  ];
  const answers = Object.entries(responses).map(([status, one]) => [status, one, contentText(one)] as const);
  const refusals = answers.filter(([, { $ref }, text]) => $ref !== undefined || text === PROBLEM);
  return [
    ...taken,
    ...(body ?? []),
    ...answers
      .filter((one) => !refusals.includes(one))
      .flatMap(([status, one, text]) => [`${status} ${text}`, ...contentFields(one)]),
    `refused: ${refusals.map(([status, , text]) => (text === PROBLEM ? status : `${status} ${text}`)).join(', ')}`,
  ];
}

/** As most refusals are answered. */
const PROBLEM = 'application/problem+json Problem';

function contentText({ $ref, content = {} }: Content): string {
  if ($ref !== undefined) return nameIn($ref);
  const kinds = Object.entries(content).map(([type, { schema = {} }]) => `${type} ${typeText(schema)}`.trim());
  return kinds.length === 0 ? 'nothing' : kinds.join(', ');
}

const contentFields = ({ content = {} }: Content): string[] =>
  Object.values(content).flatMap(({ schema = {} }) => fieldsOf(schema).map((line) => `  ${line}`));

const nameIn = (reference: string): string => reference.replace(/^.*\//, '');

/** `string minLength=1`, `Site[]`, `{…} | null`: without the fields of what it holds. */
function typeText(schema: Schema): string {
  const limits = Object.entries(schema).flatMap(([keyword, value]) =>
    SHOWN.has(keyword) ? [] : [`${keyword}=${JSON.stringify(value)}`],
  );
  return [kindText(schema), ...limits].join(' ');
}

function kindText(schema: Schema): string {
  const { $ref, type, items, prefixItems, additionalProperties: more } = schema;
  const choices = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) return nameIn($ref);
  if (choices !== undefined) return choices.map(typeText).join(' | ');
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (type === 'array')
    return prefixItems ? `[${prefixItems.map(typeText).join(', ')}]` : `(${typeText(items ?? {})})[]`;
  if (type !== 'object') return [type ?? 'anything'].flat().join(' | ');
  const others = typeof more === 'object' ? `each ${typeText(more)}` : more === false ? 'no others' : 'any others';
  const needed = (schema.required ?? []).filter((name) => schema.properties?.[name] === undefined);
  return `{${[...(schema.properties ? ['…'] : []), others, ...needed.map((name) => `needs ${name}`)].join(' ')}}`;
}

/** The fields of objects without a name of their own, at any depth, each with its path. */
function fieldsOf(schema: Schema, at = ''): string[] {
  const { properties = {}, required = [], items, prefixItems = [], additionalProperties: more } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, field]) => {
      const path = at === '' ? name : `${at}.${name}`;
      return [`${path}${required.includes(name) ? '' : '?'}: ${typeText(field)}`, ...fieldsOf(field, path)];
    }),
    ...(items === undefined ? [] : fieldsOf(items, `${at}[]`)),
    ...prefixItems.flatMap((one, index) => fieldsOf(one, `${at}[${index}]`)),
    ...(typeof more === 'object' ? fieldsOf(more, at === '' ? '*' : `${at}.*`) : []),
    ...(schema.anyOf ?? schema.oneOf ?? []).flatMap((one, index) => fieldsOf(one, `${at}<${index + 1}>`)),
  ];
}
