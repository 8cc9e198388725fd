import { parseLabelEntry } from './labels.ts';
import type { Selector, SiteNode } from './strategy.ts';

/**
 * The nodes that a list of selectors matches, as ascending indexes into `nodes` (docs/explain/design.md#spec-5, "Selectors"): intersection
 * within a selector, union across selectors. No criteria means every node. Within one criterion any value suffices.
 * Bad labels match nothing; `checkStrategy` refuses them.
 */
export function selectNodes(selectors: readonly Selector[], nodes: readonly SiteNode[]): number[] {
  if (selectors.length === 0) return nodes.map((_, index) => index);
  const matchers = selectors.map(matcherOf);
  const selected: number[] = [];
  nodes.forEach((node, index) => {
    if (matchers.some((matches) => matches(node))) selected.push(index);
  });
  return selected;
}

type Matcher = (node: SiteNode) => boolean;

function matcherOf(selector: Selector): Matcher {
  const criteria: Matcher[] = [];
  if (selector.node_names?.length) {
    const names = new Set(selector.node_names);
    criteria.push((node) => names.has(node.name));
  }
  if (selector.node_tags?.length) {
    const tags = new Set(selector.node_tags);
    criteria.push((node) => node.tags.some((tag) => tags.has(tag)));
  }
  if (selector.rack_names?.length) {
    const racks = new Set(selector.rack_names);
    criteria.push((node) => node.rack !== null && racks.has(node.rack));
  }
  if (selector.node_labels?.length) {
    const labels = selector.node_labels.flatMap((entry) => {
      const parsed = parseLabelEntry(entry);
      return parsed.ok ? parsed.labels : [];
    });
    criteria.push((node) =>
      labels.some(({ key, value }) => Object.hasOwn(node.labels, key) && node.labels[key] === value),
    );
  }
  return (node) => criteria.every((matches) => matches(node));
}
