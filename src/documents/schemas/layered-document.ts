import { z } from 'zod';

/** Form of documents, as Deckhand checks it when they are stored. */
const SCHEMA_NAME = /^[A-Za-z]+\/[A-Za-z]+\/v\d+$/;

const schemaName = z.string().regex(SCHEMA_NAME, 'must be NAMESPACE/KIND/vN, in letters');
const label = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export const documentLabels = z.record(z.string(), label);

const METHODS = ['merge', 'replace', 'delete'] as const;

const action = z.strictObject({ method: z.enum(METHODS), path: z.string() });

const layeringDefinition = z
  .strictObject({
    layer: z.string().describe('One of layerOrder of the LayeringPolicy.'),
    abstract: z.boolean().describe('An abstract document is only a base for others.').optional(),
    parentSelector: documentLabels
      .refine((selector) => Object.keys(selector).length > 0, 'must name a label')
      .describe('Labels of the document whose data this one builds on.')
      .optional(),
    actions: z.array(action).min(1).describe('How the data of this document change those of its parent.').optional(),
  })
  .refine(({ parentSelector, actions }) => (parentSelector === undefined) === (actions === undefined), {
    error: 'must have parentSelector and actions together, or none of them',
  });

const destination = z.strictObject({
  path: z.string(),
  pattern: z.string().describe('Regular expression: what it finds is replaced.').optional(),
  recurse: z
    .strictObject({ depth: z.int().min(-1) })
    .describe('Replaces in all texts below the path, so many levels deep; -1 for all.')
    .optional(),
});

const substitution = z.strictObject({
  src: z.strictObject({
    schema: schemaName,
    name: z.string(),
    path: z.string(),
    pattern: z.string().optional(),
    match_group: z.int().optional(),
    deepcopy: z.boolean().optional(),
  }),
  dest: z.union([destination, z.array(destination).min(1)]),
});

/** A control document: never layered, but it may be the source of a substitution. */
export const controlDocument = z.looseObject({
  schema: schemaName,
  metadata: z.looseObject({
    schema: z.literal('metadata/Control/v1'),
    name: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
});

export const layeredDocument = z.looseObject({
  schema: schemaName,
  metadata: z.strictObject({
    schema: z.literal('metadata/Document/v1'),
    name: z.string(),
    labels: documentLabels.optional(),
    replacement: z.boolean().optional(),
    layeringDefinition,
    substitutions: z.array(substitution).optional(),
    storagePolicy: z.enum(['cleartext', 'encrypted']),
  }),
});

/** `data` of a LayeringPolicy. */
export const layeringPolicy = z.strictObject({ layerOrder: z.array(z.string()) });

export type LabelValue = z.infer<typeof label>;
export type LayeringAction = z.infer<typeof action>;
export type Substitution = z.infer<typeof substitution>;
export type Destination = z.infer<typeof destination>;
