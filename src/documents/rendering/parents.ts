import type { LabelValue } from '../schemas/layered-document.ts';
import { type LayeredDocument, title } from './layered-document.ts';
import type { ReportRendering } from './report.ts';

/** Who builds on whom. */
export interface Family {
  readonly parents: ReadonlyMap<LayeredDocument, LayeredDocument>;
  /** The replacement of a document. */
  readonly replacements: ReadonlyMap<LayeredDocument, LayeredDocument>;
  /** Documents whose selector matches no other document. */
  readonly alone: ReadonlySet<LayeredDocument>;
}

/** Finds the parent of each document, and the document that replaces it. `ranks`: of layers, the highest first. */
export function findFamily(
  documents: readonly LayeredDocument[],
  ranks: ReadonlyMap<string, number>,
  report: ReportRendering,
): Family {
  const parents = new Map<LayeredDocument, LayeredDocument>();
  const alone = new Set<LayeredDocument>();
  const index = new LabelIndex(documents);
  const rankOf = ({ layer }: LayeredDocument): number => ranks.get(layer ?? '') ?? -1;
  for (const document of documents) {
    if (!document.selector || !ranks.has(document.layer ?? '')) continue;
    const candidates = index.matching(document);
    const path = ['metadata', 'layeringDefinition', 'parentSelector'];
    const [other] = candidates.filter(({ schema }) => schema !== document.schema);
    const [beside] = candidates.filter((one) => rankOf(one) >= rankOf(document));
    if (other)
      report(document, {
        code: 'rendering.parent-schema',
        message: `the parentSelector of ${title(document)} matches ${title(other)}, of another schema`,
        hint: 'Give the labels that it names to documents of its schema only.',
        path,
      });
    else if (beside)
      report(document, {
        code: 'rendering.parent-layer',
        message: `the parentSelector of ${title(document)} matches ${title(beside)}, which is not in a higher layer`,
        hint: 'A parent is in a higher layer: remove the label there, or select by another one.',
        path,
      });
    const nearest = Math.max(...candidates.map(rankOf));
    const inLayer = new Map<number, LayeredDocument[]>();
    for (const one of candidates) inLayer.set(rankOf(one), [...(inLayer.get(rankOf(one)) ?? []), one]);
    const several = [...inLayer.values()].find((group) => group.length > 1);
    if (several && !other && !beside)
      report(document, {
        code: 'rendering.several-parents',
        message: `the parentSelector of ${title(document)} matches several documents of one layer: ${several.map(title).join(', ')}`,
        hint: 'Select by labels that only one of them has.',
        path,
      });
    const [parent] = inLayer.get(nearest) ?? [];
    if (parent && !other && !beside && !several) {
      parents.set(document, parent);
      const loose = looseMatch(document, parent);
      if (loose !== undefined)
        report(document, {
          severity: 'warning',
          code: 'rendering.loose-label',
          message: `${title(document)} builds on ${title(parent)} although the values of label '${loose}' differ`,
          hint: 'Deckhand takes 1 for true, and null for a label that is missing: write the same value in both.',
          path: [...path, loose],
        });
    }
    if (!parent) alone.add(document);
  }
  return { parents, alone, replacements: findReplacements(documents, parents, rankOf, report) };
}

function findReplacements(
  documents: readonly LayeredDocument[],
  parents: ReadonlyMap<LayeredDocument, LayeredDocument>,
  rankOf: (document: LayeredDocument) => number,
  report: ReportRendering,
): ReadonlyMap<LayeredDocument, LayeredDocument> {
  const replacements = new Map<LayeredDocument, LayeredDocument>();
  const path = ['metadata', 'replacement'];
  for (const document of documents) {
    const parent = parents.get(document);
    const isSame = parent?.schema === document.schema && parent.name === document.name;
    if (!document.isReplacement) {
      if (isSame)
        report(document, {
          code: 'rendering.same-name-not-replacement',
          message: `${title(document)} has the name of its parent, ${title(parent)}, without replacing it`,
          hint: "Add 'replacement: true' to its metadata, or rename it.",
          path: ['metadata', 'name'],
        });
      continue;
    }
    if (!parent) {
      report(document, {
        code: 'rendering.replacement-without-parent',
        message: `${title(document)} replaces nothing: it has no parent`,
        hint: 'Select the document that it replaces by parentSelector.',
        path,
      });
    } else if (!isSame) {
      report(document, {
        code: 'rendering.replacement-other-name',
        message: `${title(document)} replaces its parent, ${title(parent)}, but has another name`,
        hint: `Name it '${parent.name}', or remove 'replacement'.`,
        path,
      });
    } else if (parent.isReplacement && !parent.isAbstract) {
      report(document, {
        code: 'rendering.replacement-of-replacement',
        message: `${title(document)} replaces ${title(parent)}, which is a replacement itself`,
        hint: 'Only one document may replace another: merge the two.',
        path,
      });
    } else if (replacements.has(parent)) {
      report(document, {
        code: 'rendering.several-replacements',
        message: `${title(parent)} is replaced by ${title(document)} and by ${title(replacements.get(parent)!)}`,
        hint: 'Only one document may replace another.',
        path,
      });
    } else {
      replacements.set(parent, document);
      if (document.isAbstract)
        report(document, {
          severity: 'warning',
          code: 'rendering.abstract-replacement',
          message: `${title(document)} is abstract and replaces ${title(parent)}: neither is in the result`,
          hint: 'Remove abstract, or replacement.',
          path,
        });
    }
  }
  const seen = new Map<string, LayeredDocument>();
  for (const document of [...documents].sort((a, b) => rankOf(a) - rankOf(b))) {
    if (document.isReplacement || document.isControl) continue;
    const key = JSON.stringify([document.schema, document.name]);
    const first = seen.get(key);
    if (!first) seen.set(key, document);
    else if (parents.get(document) !== first)
      report(document, {
        code: 'rendering.same-name-twice',
        message: `${title(document)} and ${title(first)} have one name, and neither replaces the other`,
        hint: "Rename one, or add 'replacement: true' and a parentSelector to the lower one.",
        path: ['metadata', 'name'],
      });
  }
  return replacements;
}

/** Finds documents by their labels; a pair that few documents have is looked up. */
export class LabelIndex {
  readonly #byPair = new Map<string, LayeredDocument[]>();

  constructor(documents: readonly LayeredDocument[]) {
    for (const document of documents) {
      for (const pair of Object.entries(document.labels).map(pairKey)) {
        const others = this.#byPair.get(pair);
        if (others) others.push(document);
        else this.#byPair.set(pair, [document]);
      }
    }
  }

  /** Other documents that have all labels that a document selects. */
  matching({ selector = {}, ...document }: LayeredDocument): LayeredDocument[] {
    const pairs = Object.entries(selector);
    const valued = pairs.filter(([, value]) => value !== null);
    const groups = (valued.length > 0 ? valued : pairs)
      .map((pair) => this.#byPair.get(pairKey(pair)) ?? [])
      .sort((a, b) => a.length - b.length);
    const [fewest = [], ...rest] = groups;
    const sets = rest.map((group) => new Set(group));
    return fewest.filter(
      (one) =>
        one.yaml !== document.yaml &&
        sets.every((group) => group.has(one)) &&
        pairs.every(([key, value]) => value !== null || (one.labels[key] ?? null) === null),
    );
  }
}

/** As Deckhand compares: true is 1. */
const pairKey = ([key, value]: readonly [string, LabelValue]): string =>
  JSON.stringify([key, typeof value === 'boolean' ? Number(value) : value]);

/** A pair of a selector that matches a label only by Deckhand's rules: 1 by true, or null by none. */
function looseMatch(document: LayeredDocument, parent: LayeredDocument): string | undefined {
  return Object.entries(document.selector ?? {}).find(([key, value]) => parent.labels[key] !== value)?.[0];
}
