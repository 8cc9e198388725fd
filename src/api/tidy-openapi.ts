import { isMapping } from '../core/data/plain-value.ts';
import { compareKeys } from '../core/text/text.ts';

interface Json {
  [key: string]: Json | unknown;
}

const REFERENCE = '#/components/schemas/';

/**
 * The description of the API without artefacts of its generation: unreferenced schemas, two copies of a schema
 * that is equal in requests and answers, the range of safe integers, keys being text, schemas that are `false`; and with bodies marked as optional
 * where nothing in them is needed.
 */
export function tidyOpenapi(document: object): object {
  const whole = JSON.parse(JSON.stringify(document), withoutNoise) as {
    paths: Record<string, Record<string, { requestBody?: { required?: boolean; content: Json } }>>;
    components: { schemas: Record<string, Json> };
  };
  const { schemas } = whole.components;
  const used = reachable(whole.paths, schemas);
  const names = new Map<string, string>();
  for (const name of used) {
    const plain = name.replace(/Input$/, '');
    const same = JSON.stringify(schemas[name]).replaceAll(/Input"/g, '"') === JSON.stringify(schemas[plain]);
    names.set(name, plain !== name && (!used.has(plain) || same) ? plain : name);
  }
  whole.components.schemas = Object.fromEntries(
    [...used].map((name) => [names.get(name)!, schemas[name]!] as const).sort(compareKeys),
  );
  const renamed = JSON.parse(JSON.stringify(whole), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? renameReference(value, names) : value,
  ) as typeof whole;
  for (const { requestBody } of Object.values(renamed.paths).flatMap((path) => Object.values(path))) {
    if (requestBody === undefined) continue;
    const { schema } = requestBody.content['application/json'] as { schema: Json & { $ref?: string } };
    const described = schema.$ref === undefined ? schema : renamed.components.schemas[nameIn(schema.$ref)];
    requestBody.required = described?.required !== undefined || described?.type === 'array';
  }
  return renamed;
}

function withoutNoise(_key: string, value: unknown): unknown {
  if (!isMapping(value)) return value;
  const object = value as Json;
  if (object.type === 'integer') {
    if (object.minimum === Number.MIN_SAFE_INTEGER) delete object.minimum;
    if (object.maximum === Number.MAX_SAFE_INTEGER) delete object.maximum;
  }
  // A tuple ends after its members: generators of clients know no schema that is `false`.
  if (object.items === false && Array.isArray(object.prefixItems)) {
    const kinds = [...new Set(object.prefixItems.map((one) => JSON.stringify(one)))].map(
      (one) => JSON.parse(one) as Json,
    );
    object.items = kinds.length === 1 ? kinds[0] : { anyOf: kinds };
  }
  if (JSON.stringify(object.propertyNames) === '{"type":"string"}') delete object.propertyNames;
  return object;
}

function reachable(from: unknown, schemas: Readonly<Record<string, Json>>): Set<string> {
  const found = new Set<string>();
  const visit = (value: unknown) => {
    JSON.stringify(value, (key, inner: unknown) => {
      if (key === '$ref' && typeof inner === 'string' && !found.has(nameIn(inner))) {
        found.add(nameIn(inner));
        visit(schemas[nameIn(inner)]);
      }
      return inner;
    });
  };
  visit(from);
  return found;
}

const nameIn = (reference: string): string => reference.slice(REFERENCE.length);

const renameReference = (reference: string, names: ReadonlyMap<string, string>): string =>
  `${REFERENCE}${names.get(nameIn(reference)) ?? nameIn(reference)}`;
