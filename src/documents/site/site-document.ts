import { isMapping } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';

import { placeProblem, placeSchemaProblem } from '../diagnostics/place-problem.ts';
import { checkSchema } from '../diagnostics/schema-problems.ts';
import {
  type DocumentMetadata,
  documentMetadata,
  KNOWN_SCHEMAS,
  type KnownSchema,
  NODE_SCHEMA,
} from '../schemas/envelope.ts';
import type { YamlDocument } from '../yaml-document.ts';
import { unknownSchema } from './unknown-schema.ts';

/** A document of a schema this program reads, with a checked envelope; its data is checked when it has a type. */
export interface SiteDocument<Data = unknown> {
  readonly schema: KnownSchema;
  readonly name: string;
  readonly metadata: DocumentMetadata;
  readonly data: Data;
  readonly yaml: YamlDocument;
}

/** A document of another schema: stored in the revision, not read. */
export interface IgnoredDocument {
  readonly schema: string;
  readonly yaml: YamlDocument;
}

type ReadDocument =
  | { readonly kind: 'document'; readonly document: SiteDocument }
  | { readonly kind: 'ignored'; readonly document: IgnoredDocument }
  /** Abstract documents are bases for layering, which is not applied: nothing uses them. */
  | { readonly kind: 'abstract'; readonly schema: KnownSchema; readonly metadata: DocumentMetadata }
  /** The diagnostics have its errors; name and schema are present if they can be read. */
  | { readonly kind: 'broken'; readonly schema: string | undefined; readonly name: string | undefined };

/** Reads the envelope of one document; sends problems to `report`. */
export function readDocument(yaml: YamlDocument, report: (diagnostic: Diagnostic) => void): ReadDocument {
  const { value } = yaml;
  if (!isMapping(value)) {
    report(
      placeProblem(yaml, {
        code: 'document.not-a-mapping',
        message: 'a document must be a mapping with the keys schema, metadata and data',
        path: [],
      }),
    );
    return { kind: 'broken', schema: undefined, name: undefined };
  }
  const { schema, metadata } = value;
  const name = isMapping(metadata) && typeof metadata.name === 'string' ? metadata.name : undefined;
  if (typeof schema !== 'string' || schema === '') {
    report(
      placeProblem(yaml, {
        code: 'document.no-schema',
        message:
          schema === undefined ? "'schema' is missing: it names the kind of the document" : "'schema' must be text",
        hint: `Write for example 'schema: ${NODE_SCHEMA}'.`,
        path: schema === undefined ? [] : ['schema'],
      }),
    );
    return { kind: 'broken', schema: undefined, name };
  }
  if (!isKnown(schema)) {
    const unknown = unknownSchema(schema);
    if (unknown === undefined) return { kind: 'ignored', document: { schema, yaml } };
    const { meant, loses, hint } = unknown;
    report(
      placeProblem(yaml, {
        code: 'document.unknown-schema',
        message: `unknown schema '${schema}'${name === undefined ? '' : ` of '${name}'`}: ${loses}`,
        hint,
        path: ['schema'],
      }),
    );
    return { kind: 'broken', schema: meant, name };
  }
  if (!yaml.usable) return { kind: 'broken', schema, name };
  const frame = checkSchema(documentMetadata, metadata, { at: ['metadata'] });
  if (!frame.ok) {
    for (const problem of frame.problems) report(placeSchemaProblem(yaml, problem));
    return { kind: 'broken', schema, name };
  }
  return readChecked(schema, frame.value, value.data, yaml, report);
}

function readChecked(
  schema: KnownSchema,
  metadata: DocumentMetadata,
  data: unknown,
  yaml: YamlDocument,
  report: (diagnostic: Diagnostic) => void,
): ReadDocument {
  if (metadata.layeringDefinition?.abstract) {
    report(
      placeProblem(yaml, {
        severity: 'warning',
        code: 'document.abstract',
        message: `'${metadata.name}' is abstract and not used: layering is not applied`,
        hint: 'Pass the rendered documents of the site.',
        path: ['metadata', 'layeringDefinition', 'abstract'],
      }),
    );
    return { kind: 'abstract', schema, metadata };
  }
  if (metadata.substitutions && metadata.substitutions.length > 0) {
    report(
      placeProblem(yaml, {
        severity: 'warning',
        code: 'document.substitutions',
        message: `the substitutions of '${metadata.name}' are not applied: its data is used as written`,
        hint: 'Pass the rendered documents of the site.',
        path: ['metadata', 'substitutions'],
        part: 'key',
      }),
    );
  }
  return { kind: 'document', document: { schema, name: metadata.name, metadata, data, yaml } };
}

const isKnown = (schema: string): schema is KnownSchema => (KNOWN_SCHEMAS as readonly string[]).includes(schema);
