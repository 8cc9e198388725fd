import { type LayeredDocument, title } from './layered-document.ts';
import type { ReportRendering } from './report.ts';

/** Documents with all that they depend on before them; those in or behind a cycle are left out, and each cycle is reported. */
export function inOrder(
  documents: readonly LayeredDocument[],
  dependenciesOf: (document: LayeredDocument) => readonly LayeredDocument[],
  report: ReportRendering,
): { readonly ordered: readonly LayeredDocument[]; readonly stuck: ReadonlySet<LayeredDocument> } {
  const ordered: LayeredDocument[] = [];
  const stuck = new Set<LayeredDocument>();
  const state = new Map<LayeredDocument, 'open' | 'done'>();
  for (const start of documents) {
    if (state.has(start)) continue;
    // Without recursion: a chain may contain all documents.
    const trail: { readonly document: LayeredDocument; readonly next: Iterator<LayeredDocument> }[] = [];
    const open = (document: LayeredDocument): void => {
      state.set(document, 'open');
      trail.push({ document, next: dependenciesOf(document)[Symbol.iterator]() });
    };
    open(start);
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const { done, value } = top.next.next();
      if (done) {
        trail.pop();
        state.set(top.document, 'done');
        const isStuck = stuck.has(top.document) || dependenciesOf(top.document).some((one) => stuck.has(one));
        if (isStuck) stuck.add(top.document);
        else ordered.push(top.document);
      } else if (state.get(value) === 'open') {
        const cycle = trail
          .slice(trail.findIndex(({ document }) => document === value))
          .map(({ document }) => document);
        for (const document of cycle) stuck.add(document);
        reportCycle(cycle, report);
      } else if (!state.has(value)) open(value);
    }
  }
  return { ordered, stuck };
}

function reportCycle(cycle: readonly LayeredDocument[], report: ReportRendering): void {
  const [first] = cycle;
  if (!first) return;
  report(first, {
    code: 'rendering.cycle',
    message: `documents need each other in a cycle: ${[...cycle, first].map(title).join(' > ')}`,
    hint: 'Each takes values of the next, by its parentSelector or a substitution: remove one of these.',
    path: ['metadata', first.substitutions.length > 0 ? 'substitutions' : 'layeringDefinition'],
    part: 'key',
  });
}
