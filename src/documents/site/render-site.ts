import { isMapping, type Mapping } from '../../core/data/plain-value.ts';
import { type Diagnostic, isError } from '../../core/problems/diagnostic.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { ReadLimits } from '../reader/limits.ts';
import { checkDataSchemas } from '../rendering/data-schemas.ts';
import { type Rendering, renderDocuments } from '../rendering/render-documents.ts';
import type { SubstitutionOptions } from '../rendering/substitute.ts';
import { inOrderOfPlace } from './place-order.ts';
import { readSiteTexts, type SourceFile } from './site-texts.ts';

interface RenderSiteOptions extends SubstitutionOptions {
  readonly limits?: Partial<ReadLimits>;
  /** Documents that got values of encrypted ones keep their storagePolicy. */
  readonly keepsPolicy?: boolean;
  /** Documents without an order of layers are as they are written, as where a site is read. */
  readonly acceptsNoPolicy?: boolean;
}

/** A document as Deckhand gives it out. */
export interface DeckhandDocument {
  readonly schema: string;
  readonly metadata: Mapping;
  readonly data: unknown;
}

export interface RenderedSite {
  /** In Deckhand's order: what a document takes values from comes before it. Absent when there is any error. */
  readonly documents?: readonly DeckhandDocument[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Renders all documents of a site, whoever reads them, as strictly as Deckhand does. */
export function renderSite(files: readonly SourceFile[], options: RenderSiteOptions = {}): RenderedSite {
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic);
  };
  const texts = readSiteTexts(files, options.limits ?? {}, report);
  for (const yaml of texts.all) for (const diagnostic of yaml.diagnostics) report(diagnostic);
  const headed = new Set(texts.layered.map(({ yaml }) => yaml));
  for (const yaml of texts.all) if (!headed.has(yaml)) report(noDocument(yaml));
  for (const { yaml, reason, hint } of texts.sealed)
    report(placeProblem(yaml, { code: 'rendering.encrypted', message: reason, hint, path: [] }));
  const rendering = renderDocuments(texts.layered, texts.sealed, options);
  for (const { diagnostic } of rendering.problems) report(diagnostic);
  if (rendering.kind === 'no-policy' && !options.acceptsNoPolicy) reportNoPolicy(rendering, report);
  const documents = rendering.documents.map(({ source, data, isSecret }): DeckhandDocument => {
    const { schema, metadata } = source.yaml.value as DeckhandDocument;
    const isSealed = isSecret && options.keepsPolicy !== true;
    return { schema, metadata: isSealed ? { ...metadata, storagePolicy: 'encrypted' } : metadata, data: data.value };
  });
  for (const diagnostic of checkDataSchemas(rendering.documents)) report(diagnostic);
  const sorted = inOrderOfPlace(diagnostics, files);
  return sorted.some(isError) ? { diagnostics: sorted } : { documents, diagnostics: sorted };
}

function reportNoPolicy({ documents, problems }: Rendering, report: (diagnostic: Diagnostic) => void): void {
  const layered = documents.find(({ source }) => source.layer !== undefined);
  if (!layered || problems.length > 0) return;
  const { yaml, schema, name } = layered.source;
  const finding = {
    code: 'rendering.no-policy',
    message: `${schema} '${name}' has a layer, but the site has no LayeringPolicy`,
    hint: 'Add the deckhand/LayeringPolicy/v1 document with layerOrder.',
    path: ['metadata', 'layeringDefinition', 'layer'],
  };
  report(placeProblem(yaml, finding));
}

const noDocument = (yaml: Parameters<typeof placeProblem>[0]): Diagnostic =>
  placeProblem(yaml, {
    code: isMapping(yaml.value) ? 'document.no-schema' : 'document.not-a-mapping',
    message: 'this is no document: it has no schema',
    hint: 'A document is a mapping with schema, metadata and data.',
    path: [],
  });
