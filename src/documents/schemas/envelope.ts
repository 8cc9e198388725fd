import { z } from 'zod';
import { documentLabels } from './layered-document.ts';

/** Names of the document schemas this program reads. It ignores those of other programs. */
export const STRATEGY_SCHEMA = 'shipyard/DeploymentStrategy/v1';
export const CONFIGURATION_SCHEMA = 'shipyard/DeploymentConfiguration/v1';
export const NODE_SCHEMA = 'drydock/BaremetalNode/v1';
export const HOST_PROFILE_SCHEMA = 'drydock/HostProfile/v1';
export const HARDWARE_PROFILE_SCHEMA = 'drydock/HardwareProfile/v1';
export const NETWORK_LINK_SCHEMA = 'drydock/NetworkLink/v1';
export const NETWORK_SCHEMA = 'drydock/Network/v1';

export const LIMITS_SCHEMA = 'sitewright/Limits/v1';

export const BOOT_ACTION_SCHEMA = 'drydock/BootAction/v1';
export const REGION_SCHEMA = 'drydock/Region/v1';

export const CHECK_SCHEMA = 'sitewright/Check/v1';

export const KNOWN_SCHEMAS = [
  STRATEGY_SCHEMA,
  CONFIGURATION_SCHEMA,
  NODE_SCHEMA,
  HOST_PROFILE_SCHEMA,
  HARDWARE_PROFILE_SCHEMA,
  NETWORK_LINK_SCHEMA,
  NETWORK_SCHEMA,
  LIMITS_SCHEMA,
  BOOT_ACTION_SCHEMA,
  REGION_SCHEMA,
  CHECK_SCHEMA,
] as const;
export type KnownSchema = (typeof KNOWN_SCHEMAS)[number];

/** Schemas of Drydock that a deployment does not need. */
const UNUSED_SCHEMAS = ['drydock/Rack/v1'] as const;

/** The schemas of those whose documents this program reads: with these beginnings there are no others. */
export const SCHEMAS_OF_SITES: readonly string[] = [...KNOWN_SCHEMAS, ...UNUSED_SCHEMAS];

const name = z.string().min(1).describe('Name of the document; unique among those of its schema.');

/** `metadata` of a Deckhand document, as far as documents without layers need it. */
export const documentMetadata = z.looseObject({
  schema: z
    .string()
    .regex(/^metadata\/(Document|Control)\/v\d+(\.\d+)*$/, 'must be metadata/Document/v1')
    .optional(),
  name,
  layeringDefinition: z
    .looseObject({
      abstract: z.boolean().optional().describe('An abstract document is only a base for others and is not used.'),
      layer: z.string().optional(),
      parentSelector: documentLabels.optional(),
      actions: z.array(z.looseObject({ method: z.enum(['merge', 'replace', 'delete']), path: z.string() })).optional(),
    })
    .optional(),
  storagePolicy: z.enum(['cleartext', 'encrypted']).optional(),
  labels: documentLabels.optional(),
  replacement: z.boolean().optional().describe('This document replaces the one of the same schema and name.'),
  substitutions: z.array(z.unknown()).optional(),
});

export type DocumentMetadata = z.infer<typeof documentMetadata>;

/** The envelope of every document, for editors: its kind (`schema`), its name (`metadata`) and its content (`data`). */
export const documentOf = (schema: string, data: z.ZodType) =>
  z.looseObject({
    schema: z.literal(schema).describe('Kind of the document.'),
    metadata: documentMetadata.describe('Name of the document and how it relates to others.'),
    data: data.describe('Content of the document.'),
  });
