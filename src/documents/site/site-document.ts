import { isMapping, valueAt } from '../../core/data/plain-value.ts';
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
  /** Abstract, in a site without layers: nothing uses it. */
  | { readonly kind: 'abstract'; readonly schema: KnownSchema; readonly metadata: DocumentMetadata }
  /** The diagnostics have its errors; name and schema are present if they can be read. */
  | { readonly kind: 'broken'; readonly schema: string | undefined; readonly name: string | undefined };

/** The name of a document that could not be rendered, or is of another program. */
export function readUnrendered(yaml: YamlDocument): ReadDocument {
  const schema = String(valueAt(yaml.value, ['schema']));
  const name = valueAt(yaml.value, ['metadata', 'name']);
  if (!isKnown(schema)) return { kind: 'ignored', document: { schema, yaml } };
  return { kind: 'broken', schema, name: typeof name === 'string' ? name : undefined };
}

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
  const { schema, metadata, apiVersion, kind } = value;
  const name = isMapping(metadata) && typeof metadata.name === 'string' ? metadata.name : undefined;
  if (schema === undefined && typeof apiVersion === 'string' && apiVersion.startsWith('drydock/')) {
    report(
      placeProblem(yaml, {
        code: 'document.old-form',
        message: `this is the old form of documents of Drydock (apiVersion: ${apiVersion})`,
        hint: `Write 'schema: drydock/${typeof kind === 'string' ? kind : 'KIND'}/v1' instead of apiVersion and kind, and data instead of spec.`,
        path: ['apiVersion'],
      }),
    );
    return { kind: 'broken', schema: undefined, name };
  }
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
  if (value.data === undefined && isMapping(metadata) && metadata.data !== undefined) {
    report(
      placeProblem(yaml, {
        code: 'document.missing-key',
        message: `'data' is under metadata, where nothing reads it`,
        hint: "Move 'data:' to the indentation of 'metadata:'.",
        path: ['metadata', 'data'],
        part: 'key',
      }),
    );
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
        message: `'${metadata.name}' is abstract and no document builds on it: it is not used`,
        hint: 'Select it by the parentSelector of another document, or remove it.',
        path: ['metadata', 'layeringDefinition', 'abstract'],
      }),
    );
    return { kind: 'abstract', schema, metadata };
  }
  return { kind: 'document', document: { schema, name: metadata.name, metadata, data, yaml } };
}

const isKnown = (schema: string): schema is KnownSchema => (KNOWN_SCHEMAS as readonly string[]).includes(schema);

/** Documents of a schema by name; `names` has the invalid ones, too. */
export interface NamedDocuments<Data> {
  readonly schema: KnownSchema;
  readonly checked: ReadonlyMap<string, SiteDocument<Data>>;
  readonly names: readonly string[];
}
