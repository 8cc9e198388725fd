import { ITEM, type YamlPlace } from './yaml-place.ts';

/** A JSON Schema, as the API publishes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A key or value that a schema allows. */
export interface Proposal {
  readonly label: string;
  readonly isKey: boolean;
  readonly about: string | undefined;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** What the schema of a document allows at a place, in the order of the schema. */
export function proposals(schemas: readonly JsonSchema[], { schema, path, key }: YamlPlace): readonly Proposal[] {
  const kinds = schemas.flatMap((one) => constantOf(one, 'schema') ?? []);
  if (path.length === 0 && key === 'schema') return kinds.map((label) => ({ label, isKey: false, about: undefined }));
  const root = schemas.find((one) => constantOf(one, 'schema') === schema);
  if (root === undefined)
    return path.length === 0 && key === undefined
      ? [{ label: 'schema', isKey: true, about: 'Kind of the document.' }]
      : [];
  let reached = [root];
  for (const step of path) reached = reached.flatMap((one) => below(one, step, root));
  const found = new Map<string, Proposal>();
  for (const one of reached.flatMap((each) => variants(each, root))) {
    if (key === undefined) {
      for (const [label, value] of Object.entries(isSchema(one.properties) ? one.properties : {}))
        found.set(label, { label, isKey: true, about: aboutOf(value) });
    } else for (const value of below(one, key, root).flatMap((each) => variants(each, root))) addValues(found, value);
  }
  return [...found.values()];
}

function addValues(found: Map<string, Proposal>, schema: JsonSchema): void {
  const values = [
    ...listOf(schema.enum),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === 'boolean' ? [true, false] : []),
  ];
  for (const value of values) {
    const label = String(value);
    found.set(label, { label, isKey: false, about: aboutOf(schema) });
  }
}

const aboutOf = (schema: unknown): string | undefined =>
  isSchema(schema) && typeof schema.description === 'string' ? schema.description : undefined;

function constantOf(schema: JsonSchema, name: string): string | undefined {
  const property = isSchema(schema.properties) ? schema.properties[name] : undefined;
  return isSchema(property) && typeof property.const === 'string' ? property.const : undefined;
}

/** The schemas of a part. */
function below(schema: JsonSchema, step: string, root: JsonSchema): JsonSchema[] {
  return variants(schema, root).flatMap((one) => {
    const properties = isSchema(one.properties) ? one.properties : {};
    const part = step === ITEM ? one.items : (properties[step] ?? one.additionalProperties);
    return isSchema(part) ? [part] : [];
  });
}

/** Itself, and its alternatives. */
function variants(schema: JsonSchema, root: JsonSchema): JsonSchema[] {
  const reference = typeof schema.$ref === 'string' ? /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1] : undefined;
  const definitions = isSchema(root.$defs) ? root.$defs : {};
  const named = reference === undefined ? undefined : definitions[reference];
  const all = [
    ...listOf(schema.anyOf),
    ...listOf(schema.oneOf),
    ...listOf(schema.allOf),
    ...(isSchema(named) ? [named] : []),
  ];
  return [schema, ...all.filter(isSchema).flatMap((one) => variants(one, root))];
}
