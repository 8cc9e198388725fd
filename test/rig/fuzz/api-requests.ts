import fc from 'fast-check';
import type { Method } from '../../api/api-rig.ts';

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}

export interface Operation {
  readonly method: Method;
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly body: Schema | undefined;
  readonly statuses: readonly number[];
}

/** An API that runs, as it describes itself. */
export interface Description {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

export interface Made {
  readonly method: Method;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** All routes but endless ones. */
export const operationsOf = ({ paths }: Description): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => !isEndless(operation))
      .map(([method, operation]) => {
        const { parameters, requestBody, responses } = operation as Described;
        return {
          method: method.toUpperCase() as Method,
          path,
          parameters: parameters ?? [],
          body: requestBody?.content?.['application/json']?.schema,
          statuses: Object.keys(responses ?? {}).map(Number),
        };
      }),
  );

interface Described {
  readonly parameters?: Operation['parameters'];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses?: Readonly<Record<string, { readonly content?: object }>>;
}

/** Only the event streams: such an answer never ends. */
const isEndless = (operation: object): boolean => {
  const { responses } = operation as Described;
  const types = Object.keys(responses?.['200']?.content ?? {});
  return types.length === 1 && types[0] === 'text/event-stream';
};

/** Names that exist, so that requests get past the first look-up, among those that do not. */
const known = fc.constantFrom('dc1', 'run1', 'latest', '1', 'node01', 'default', 'web', 'baremetal-node.schema.json');

/** Plausible values of a parameter of this name. */
const LIKELY: Readonly<Record<string, readonly string[]>> = {
  site: ['dc1'],
  run: ['run1'],
  ref: ['latest'],
  node: ['node01'],
  type: ['default'],
  graph_type: ['default'],
  name: ['web', 'baremetal-node.schema.json'],
};
const likely = (name: string): fc.Arbitrary<string> =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...(LIKELY[name] ?? ['1'])) }, { weight: 1, arbitrary: text });

const nasty = fc.constantFrom(
  '',
  ' ',
  '\0',
  '..',
  '../../etc/passwd',
  '%',
  "'; drop table runs; --",
  '__proto__',
  'constructor',
  'toString',
  '💥',
  '\ud800',
  'null',
  '-1',
  '1e309',
  '9'.repeat(40),
  'x'.repeat(1500),
  '\u202e\r\n',
);

export const text = fc.oneof(known, nasty, fc.string({ unit: 'binary', maxLength: 30 }));

type Schemas = Readonly<Record<string, Schema>>;

/** Any JSON, half of the time; else something close to the schema. */
function near(schemas: Schemas, schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const anything = fc.oneof(text, fc.jsonValue({ maxDepth: 3 }));
  return fc.oneof({ weight: 1, arbitrary: anything }, { weight: 15, arbitrary: fitting(schemas, schema, depth) });
}

function fitting(schemas: Schemas, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined)
    return fitting(schemas, schemas[schema.$ref.replace('#/components/schemas/', '')]!, depth);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => near(schemas, one, depth + 1)));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') {
    const shape = Object.entries(schema.properties ?? {}).map(
      ([key, inner]) => [key, near(schemas, inner, depth + 1)] as const,
    );
    const stranger = rarely(12, fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 }), {});
    return fc
      .tuple(partly(Object.fromEntries(shape), schema.required ?? []), stranger)
      .map(([fields, others]) => ({ ...others, ...fields }));
  }
  if (type === 'array') return fc.array(near(schemas, schema.items ?? {}, depth + 1), { maxLength: depth > 2 ? 1 : 3 });
  if (type === 'integer' || type === 'number') {
    const { minimum: min = 0, maximum = 3 } = schema;
    return fc.oneof(fc.integer({ min, max: Math.max(min, Math.min(maximum, min + 3)) }), fc.integer(), fc.double());
  }
  if (type === 'boolean') return fc.boolean();
  // The generator has no letters of other scripts.
  if (schema.pattern !== undefined && !schema.pattern.includes('\\p'))
    return fc.oneof(fc.stringMatching(new RegExp(schema.pattern, 'u')), text);
  return text;
}

/** True once in the given number of times. */
const rarely = <T, U>(times: number, arbitrary: fc.Arbitrary<T>, otherwise: U): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

/** Some of the fields; required ones nearly always. */
function partly(fields: Readonly<Record<string, fc.Arbitrary<unknown>>>, needed: readonly string[]) {
  const requiredKeys = needed.filter((key) => Object.hasOwn(fields, key));
  return fc.oneof(
    { weight: 9, arbitrary: fc.record(fields, { requiredKeys }) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
  );
}

/** Half a pair of surrogates cannot be written in a URL at all. */
export const wellFormed = (value: string) =>
  encodeURIComponent(value.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '?'));

/** A request to one route: names in the path, parameters, body, headers. */
export function requestTo(schemas: Schemas, { method, path, parameters, body }: Operation): fc.Arbitrary<Made> {
  const names = parameters.filter((one) => one.in === 'path').map((one) => one.name);
  // A follower waits until a task starts.
  const queries = parameters.filter((one) => one.in === 'query' && one.name !== 'follow');
  return fc
    .record({
      method: fc.constant(method),
      path: fc
        .tuple(...names.map(likely))
        .map((values) =>
          names.reduce((url, name, index) => url.replace(`{${name}}`, () => wellFormed(values[index]!)), path),
        ),
      query: fc
        .oneof(
          fc.constant({}),
          partly(
            Object.fromEntries(
              queries.map((one) => [one.name, one.name in LIKELY ? likely(one.name) : near(schemas, one.schema)]),
            ),
            queries.filter(({ required }) => required).map(({ name }) => name),
          ),
        )
        .map((values) =>
          Object.entries(values)
            .map(
              ([key, value]) =>
                `${key}=${wellFormed(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))}`,
            )
            .join('&'),
        ),
      body: body === undefined ? fc.constant(undefined) : fc.option(near(schemas, body), { nil: undefined, freq: 20 }),
      mangled: rarely(8, fc.tuple(fc.nat(), fc.constantFrom('', '\0', '}', '"', '\\', '\uFEFF')), undefined),
      type: fc.oneof(
        { weight: 12, arbitrary: fc.constant('application/json') },
        {
          weight: 1,
          arbitrary: fc.constantFrom('application/yaml', 'text/plain', 'nonsense', 'application/json; charset=x'),
        },
      ),
      user: rarely(4, fc.constantFrom('nina', 'x'.repeat(300), 'é'), undefined),
    })
    .map(sent);
}

interface Parts {
  readonly method: Method;
  readonly path: string;
  readonly query: string;
  readonly body: unknown;
  /** Where a character of the body becomes another. */
  readonly mangled: readonly [place: number, by: string] | undefined;
  readonly type: string;
  readonly user: string | undefined;
}

function sent({ method, path, query, body, mangled, type, user }: Parts): Made {
  const whole = body === undefined ? undefined : (JSON.stringify(body) ?? 'null');
  const [place, by] = mangled ?? [0, undefined];
  const payload =
    whole === undefined || by === undefined
      ? whole
      : whole.slice(0, place % (whole.length + 1)) + by + whole.slice((place % (whole.length + 1)) + 1);
  return {
    method,
    url: `${path}${query === '' ? '' : `?${query}`}`,
    headers: {
      ...(payload === undefined ? {} : { 'content-type': type }),
      ...(user === undefined ? {} : { 'x-sitewright-user': user }),
    },
    ...(payload === undefined ? {} : { body: payload }),
  };
}
