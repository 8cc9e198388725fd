// Makes the schemas for kubeconform from Kubernetes' OpenAPI: node kubernetes-schemas.mjs SWAGGER FOLDER
// A file for each kind. They are strict: a field that Kubernetes does not know, and would drop, is an error.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [swagger = '', folder = ''] = process.argv.slice(2);
/** @type {{ definitions: Record<string, Record<string, any>> }} */
const { definitions } = JSON.parse(readFileSync(swagger, 'utf8'));

for (const [name, definition] of Object.entries(definitions)) {
  // Texts in OpenAPI, but numbers are valid as well.
  if (definition.format === 'int-or-string' || name.endsWith('.api.resource.Quantity')) {
    delete definition.format;
    definition.type = ['string', 'number'];
  }
  if (definition.properties && !definition['x-kubernetes-preserve-unknown-fields'])
    definition.additionalProperties ??= false;
}

const REFERENCE = /"#\/definitions\/([^"]+)"/g;

/**
 * A definition and all that it refers to, directly and through others.
 *
 * @param {string} start
 */
function reachedFrom(start) {
  const reached = new Set([start]);
  for (const name of reached)
    for (const [, next = ''] of JSON.stringify(definitions[name]).matchAll(REFERENCE)) reached.add(next);
  return Object.fromEntries([...reached].map((name) => [name, definitions[name]]));
}

mkdirSync(folder, { recursive: true });
for (const [name, definition] of Object.entries(definitions)) {
  const kinds = definition['x-kubernetes-group-version-kind'] ?? [];
  // Options of requests are of many groups, and in no file.
  if (kinds.length !== 1) continue;
  const [{ group, version, kind }] = kinds;
  const suffix = group === '' ? version : `${group.split('.')[0]}-${version}`;
  const whole = {
    allOf: [{ $ref: `#/definitions/${name}` }, { required: ['apiVersion', 'kind', 'metadata'] }],
    definitions: reachedFrom(name),
  };
  writeFileSync(join(folder, `${kind.toLowerCase()}-${suffix}.json`), JSON.stringify(whole));
}
