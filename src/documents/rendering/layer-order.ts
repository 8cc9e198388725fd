import { isMapping } from '../../core/data/plain-value.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { checkSchema } from '../diagnostics/schema-problems.ts';
import { layeringPolicy } from '../schemas/layered-document.ts';
import { type LayeredDocument, title } from './layered-document.ts';
import type { ReportRendering } from './report.ts';

const POLICY = 'deckhand/LayeringPolicy';

export const isPolicy = ({ schema }: { readonly schema: string }): boolean => schema.startsWith(POLICY);

/** Layers with their ranks, the highest first; undefined when the site has no policy that can be used. */
export function readLayerOrder(
  documents: readonly LayeredDocument[],
  report: ReportRendering,
): ReadonlyMap<string, number> | undefined {
  const [policy, ...others] = documents.filter(isPolicy);
  if (!policy) return undefined;
  for (const other of others)
    report(other, {
      code: 'rendering.several-policies',
      message: `${title(other)} is a second LayeringPolicy, beside '${policy.name}'`,
      hint: 'A site has one order of layers: remove the other policy.',
      path: ['schema'],
    });
  const checked = checkSchema(layeringPolicy, policy.data.value, { at: ['data'] });
  if (!checked.ok) {
    for (const problem of checked.problems)
      report(policy, { ...problem, code: 'rendering.format', message: `${title(policy)}: ${problem.message}` });
    // Its texts still order what can be rendered.
    const order = isMapping(policy.data.value) ? policy.data.value.layerOrder : undefined;
    if (!Array.isArray(order)) return undefined;
    return ranksOf(order.map(String));
  }
  return ranksOf(checked.value.layerOrder);
}

const ranksOf = (order: readonly string[]): ReadonlyMap<string, number> =>
  new Map(order.map((layer, rank) => [layer, rank]));

/** Reports documents of layers that the policy does not have. */
export function checkLayers(
  documents: readonly LayeredDocument[],
  ranks: ReadonlyMap<string, number>,
  report: ReportRendering,
): void {
  for (const document of documents) {
    const { layer } = document;
    if (layer === undefined || ranks.has(layer)) continue;
    const layers = [...ranks.keys()];
    report(document, {
      code: 'rendering.unknown-layer',
      message: `the layer of ${title(document)} is not in layerOrder of the LayeringPolicy`,
      hint: didYouMean(layer, layers) ?? `Its layers: ${layers.join(', ') || 'none'}.`,
      path: ['metadata', 'layeringDefinition', 'layer'],
    });
  }
}
