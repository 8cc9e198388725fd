import { printPath } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import { JsonSchemaCheck } from './json-schema.ts';
import { title } from './layered-document.ts';
import { PatternError, Patterns } from './patterns.ts';
import type { RenderedDocument } from './render-documents.ts';
import { renderedYaml } from './rendered-yaml.ts';

const DATA_SCHEMA = /^deckhand\/DataSchema\/v\d+$/;

/** Schemas of Deckhand whose data are text. */
const TEXTS =
  /^deckhand\/(?:Passphrase|Certificate|CertificateKey|CertificateAuthority|CertificateAuthorityKey|PublicKey|PrivateKey)\/v1$/;

/** Checks rendered documents by the DataSchemas among them: the name of one is the schema that it is for. */
export function checkDataSchemas(documents: readonly RenderedDocument[]): readonly Diagnostic[] {
  const schemas = new Map<string, RenderedDocument>();
  for (const one of documents) if (DATA_SCHEMA.test(one.source.schema)) schemas.set(one.source.name, one);
  const check = new JsonSchemaCheck(new Patterns());
  const unusable = new Set<RenderedDocument>();
  return documents.flatMap((document) => {
    const { source, data } = document;
    if (source.isControl) return [];
    const schema = schemas.get(source.schema);
    if (!schema && !TEXTS.test(source.schema)) return [];
    if (schema && unusable.has(schema)) return [];
    try {
      return check.mismatches(schema ? schema.data.value : { type: 'string' }, data.value).map(({ message, path }) =>
        placeProblem(renderedYaml(document), {
          code: 'rendering.format',
          message: `${title(source)}: ${printPath(['data', ...path])} ${message}, says its DataSchema`,
          path: ['data', ...path],
        }),
      );
    } catch (error) {
      if (!(error instanceof PatternError) || !schema) throw error;
      unusable.add(schema);
      const message = `DataSchema '${schema.source.name}' cannot be used: ${error.message}`;
      return [placeProblem(schema.source.yaml, { code: 'rendering.format', message, path: ['data'] })];
    }
  });
}
