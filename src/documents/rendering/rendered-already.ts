import { isDeepStrictEqual } from 'node:util';
import { isMapping } from '../../core/data/plain-value.ts';
import { layerData } from './layer-data.ts';
import type { LayeredDocument } from './layered-document.ts';
import { PatternError, type Patterns } from './patterns.ts';
import { RenderingError } from './report.ts';
import { hasValues, SourceFailed, type Sources, substitute } from './substitute.ts';

/**
 * Whether layering and substitution leave a document as it is written, and how much shows that they have been there: values
 * of a parent or a source that it has. Undefined when they would change it, or when a value is missing.
 */
export function signsOfRendering(
  document: LayeredDocument,
  parent: LayeredDocument | undefined,
  sources: Sources,
  patterns: Patterns,
): number | undefined {
  try {
    const isFilled = document.substitutions
      .filter(({ src }) => sources.find(src.schema, src.name) === undefined)
      .every((substitution) => hasValues(document.data, substitution, patterns));
    if (!isFilled) return undefined;
    const layered = parent ? layerData(document, parent, parent.data) : document.data;
    const { data, inPlace } = substitute(document, layered, sources, patterns, {
      skipsMissing: true,
      keepsReplaced: true,
    });
    if (data !== document.data && !isDeepStrictEqual(data.value, document.data.value)) return undefined;
    return (parent && !isEmpty(parent.data.value) ? 1 : 0) + inPlace;
  } catch (error) {
    if (error instanceof RenderingError || error instanceof SourceFailed || error instanceof PatternError)
      return undefined;
    throw error;
  }
}

const isEmpty = (value: unknown): boolean => value === null || (isMapping(value) && Object.keys(value).length === 0);
