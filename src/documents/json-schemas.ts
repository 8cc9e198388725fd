import { z } from 'zod';
import { baremetalNodeSchema, hostProfileSchema } from './schemas/baremetal-node.ts';
import { checkDocumentSchema } from './schemas/check.ts';
import { deploymentConfigurationSchema } from './schemas/deployment-configuration.ts';
import { deploymentStrategySchema } from './schemas/deployment-strategy.ts';
import {
  CHECK_SCHEMA,
  CONFIGURATION_SCHEMA,
  documentOf,
  HARDWARE_PROFILE_SCHEMA,
  HOST_PROFILE_SCHEMA,
  LIMITS_SCHEMA,
  NETWORK_LINK_SCHEMA,
  NETWORK_SCHEMA,
  NODE_SCHEMA,
  STRATEGY_SCHEMA,
} from './schemas/envelope.ts';
import { limitsSchema } from './schemas/limits.ts';
import { hardwareProfileSchema, networkLinkSchema, networkSchema } from './schemas/machine-layout.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

const DOCUMENTS = [
  ['deployment-strategy', 'Deployment strategy', STRATEGY_SCHEMA, deploymentStrategySchema],
  ['deployment-configuration', 'Deployment configuration', CONFIGURATION_SCHEMA, deploymentConfigurationSchema],
  ['baremetal-node', 'Bare-metal node', NODE_SCHEMA, baremetalNodeSchema],
  ['host-profile', 'Host profile', HOST_PROFILE_SCHEMA, hostProfileSchema],
  ['hardware-profile', 'Hardware profile', HARDWARE_PROFILE_SCHEMA, hardwareProfileSchema],
  ['network-link', 'Network link', NETWORK_LINK_SCHEMA, networkLinkSchema],
  ['network', 'Network', NETWORK_SCHEMA, networkSchema],
  ['limits', 'Limits of changes', LIMITS_SCHEMA, limitsSchema],
  ['check', 'Check', CHECK_SCHEMA, checkDocumentSchema],
] as const;

/** Removes additions of zod that no editor needs: the range of safe integers, and that keys are text. */
function tidy({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  delete jsonSchema.propertyNames;
}

/**
 * JSON Schemas (draft 2020-12) of the documents of a site, by file name, for editors:
 * one for each kind, and `site-document.schema.json` for files that mix them, which chooses by `schema`.
 */
export function exportJsonSchemas(): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = {};
  for (const [file, title, schema, data] of DOCUMENTS) {
    const { $schema, ...rest } = z.toJSONSchema(documentOf(schema, data), { io: 'input', override: tidy });
    schemas[`${file}.schema.json`] = { $schema, title, ...rest };
  }
  schemas['site-document.schema.json'] = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Document of a site',
    type: 'object',
    required: ['schema', 'metadata'],
    allOf: DOCUMENTS.map(([file, , schema]) => ({
      if: { required: ['schema'], properties: { schema: { const: schema } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `${file}.schema.json` },
    })),
  };
  return schemas;
}
