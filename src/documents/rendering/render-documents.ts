import { isDeepStrictEqual } from 'node:util';
import { isMapping } from '../../core/data/plain-value.ts';
import { isError } from '../../core/problems/diagnostic.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { YamlDocument } from '../yaml-document.ts';
import { layerData } from './layer-data.ts';
import { checkLayers, readLayerOrder } from './layer-order.ts';
import { isLayered, type LayeredDocument, type RenderingProblem, readLayered, title } from './layered-document.ts';
import { inOrder } from './order.ts';
import { type Family, findFamily, LabelIndex } from './parents.ts';
import { PatternError, Patterns } from './patterns.ts';
import { RenderingError, type ReportRendering } from './report.ts';
import {
  checkSize,
  hasValues,
  SourceFailed,
  type Sources,
  type SubstitutionOptions,
  substitute,
} from './substitute.ts';
import type { Traced } from './traced.ts';

/** A document to render: it has a schema. */
export interface GivenDocument {
  readonly yaml: YamlDocument;
  readonly schema: string;
}

/** A document of which only the name can be read. */
export interface SealedDocument extends GivenDocument {
  readonly name: string;
  readonly reason: string;
  readonly hint: string;
}

export interface RenderedDocument {
  readonly source: LayeredDocument;
  readonly data: Traced;
  /** It holds a value of an encrypted document. */
  readonly isSecret: boolean;
}

export interface Rendering {
  /**
   * - `rendered`: layered documents, rendered
   * - `unchanged`: they were rendered before
   * - `no-policy`: they have no order of layers; what would need one is a problem
   */
  readonly kind: 'rendered' | 'unchanged' | 'no-policy';
  /** Without abstract and replaced documents and those that cannot be rendered; what they depend on comes first. */
  readonly documents: readonly RenderedDocument[];
  /** Abstract and replaced documents. */
  readonly dropped: ReadonlySet<YamlDocument>;
  readonly problems: readonly RenderingProblem[];
  /** Whether a document is one of these, or one that they take values from. */
  concerns(isWanted: (document: GivenDocument) => boolean): (document: RenderingProblem['document']) => boolean;
}

export interface RenderingOptions extends SubstitutionOptions {
  /**
   * Where documents may be rendered ones and nothing shows it, a replacement without a parent is one whose parent is gone.
   * Deckhand refuses its own result there.
   */
  readonly isTolerant?: boolean;
}

/** Renders the documents of a site as Deckhand does: layering, replacement and substitution. */
export function renderDocuments(
  given: readonly GivenDocument[],
  sealed: readonly SealedDocument[] = [],
  options: RenderingOptions = {},
): Rendering {
  return new Renderer(given, sealed, options).render();
}

class Renderer {
  readonly #options: RenderingOptions;
  #problems: RenderingProblem[] = [];
  readonly #documents: readonly LayeredDocument[];
  readonly #broken: ReadonlySet<string>;
  readonly #sealed: ReadonlyMap<string, SealedDocument>;
  readonly #failed = new Set<LayeredDocument>();
  readonly #data = new Map<LayeredDocument, Traced>();
  readonly #secret = new Set<LayeredDocument>();
  readonly #patterns = new Patterns();

  constructor(given: readonly GivenDocument[], sealed: readonly SealedDocument[], options: RenderingOptions) {
    this.#options = options;
    const read = given.map(({ yaml, schema }) => readLayered(yaml, schema, (problem) => this.#problems.push(problem)));
    this.#broken = new Set(read.flatMap((one) => (isLayered(one) ? [] : keyOf(one.schema, one.name ?? ''))));
    this.#documents = read.filter(isLayered);
    this.#sealed = new Map(sealed.map((one) => [keyOf(one.schema, one.name), one]));
  }

  render(): Rendering {
    const ranks = readLayerOrder(this.#documents, this.#report);
    if (!ranks) return this.#withoutPolicy();
    checkLayers(this.#documents, ranks, this.#report);
    this.#checkDuplicates();
    const family = findFamily(this.#documents, ranks, this.#report);
    const isRaw = this.#isRaw(family);
    if (isRaw === false) return this.#asWritten('unchanged', []);
    if (isRaw === undefined && this.#options.isTolerant) this.#acceptReplacements();
    this.#reportAlone(family, ranks, isRaw === true);
    const dependenciesOf = this.#dependencies(family);
    const { ordered, stuck } = inOrder(this.#documents, dependenciesOf, this.#report);
    for (const document of stuck) this.#failed.add(document);
    const sources = this.#sources(family, (one) => this.#rendered(one));
    for (const document of ordered) this.#renderOne(document, family, sources);
    const dropped = new Set(
      this.#documents.filter((one) => one.isAbstract || family.replacements.has(one)).map(({ yaml }) => yaml),
    );
    return {
      kind: 'rendered',
      documents: ordered.flatMap((source) => {
        const data = this.#rendered(source);
        return data && !dropped.has(source.yaml) ? [{ source, data, isSecret: this.#secret.has(source) }] : [];
      }),
      dropped,
      problems: this.#problems,
      concerns: (isWanted) => this.#concerns(isWanted, dependenciesOf),
    };
  }

  readonly #report: ReportRendering = (document, finding) => {
    const diagnostic = placeProblem(document.yaml, finding);
    if (isError(diagnostic)) this.#failed.add(document);
    this.#problems.push({ document, diagnostic });
  };

  #acceptReplacements(): void {
    for (const { document, diagnostic } of this.#problems)
      if (diagnostic.code === LOST_PARENT && isLayered(document)) this.#failed.delete(document);
    this.#problems = this.#problems.filter(({ diagnostic }) => diagnostic.code !== LOST_PARENT);
  }

  #checkDuplicates(): void {
    const seen = new Map<string, LayeredDocument>();
    for (const document of this.#documents) {
      const key = JSON.stringify([document.schema, document.layer, document.name]);
      const first = seen.get(key);
      if (!first) {
        seen.set(key, document);
        continue;
      }
      const { line } = first.yaml.place(['metadata', 'name']);
      const { file } = first.yaml.source;
      this.#report(document, {
        code: 'rendering.format',
        message: `${title(document)} is there twice; the first is ${file === undefined ? `on line ${line}` : `at ${file}:${line}`}`,
        hint: 'Schema, layer and name are unique together: rename or remove one.',
        path: ['metadata', 'name'],
      });
    }
  }

  /** Where substitutions find their values: concrete documents, a replacement instead of what it replaces. */
  #sources(family: Family | undefined, dataOf: (document: LayeredDocument) => Traced | undefined): Sources {
    const concrete = new Map<string, LayeredDocument>();
    const names = new Map<string, string[]>();
    for (const document of this.#documents) {
      if (document.isAbstract || family?.replacements.has(document)) continue;
      const { schema, name } = document;
      if (concrete.has(keyOf(schema, name))) continue;
      concrete.set(keyOf(schema, name), document);
      names.set(schema, [...(names.get(schema) ?? []), name]);
    }
    return {
      find: (schema, name) => {
        const document = concrete.get(keyOf(schema, name));
        if (!document) return this.#broken.has(keyOf(schema, name)) ? 'failed' : undefined;
        const data = dataOf(document);
        return data ? { document, data, isSecret: document.isEncrypted || this.#secret.has(document) } : 'failed';
      },
      names: (schema) => names.get(schema) ?? [],
      sealed: (schema, name) => this.#sealed.get(keyOf(schema, name)),
    };
  }

  /** What must be rendered before a document. */
  #dependencies(family: Family): (document: LayeredDocument) => readonly LayeredDocument[] {
    const { find } = this.#sources(family, ({ data }) => data);
    const known = new Map<LayeredDocument, readonly LayeredDocument[]>();
    return (document) => {
      const before = known.get(document);
      if (before) return before;
      const needed = new Set<LayeredDocument>();
      const parent = family.parents.get(document);
      if (parent) needed.add(standsFor(parent, document, family));
      for (const { src } of document.substitutions) {
        const source = find(src.schema, src.name);
        if (source && source !== 'failed') needed.add(source.document);
      }
      known.set(document, [...needed]);
      return [...needed];
    };
  }

  #renderOne(document: LayeredDocument, family: Family, sources: Sources): void {
    if (this.#failed.has(document)) return;
    try {
      const parent = family.parents.get(document);
      const inherited = parent && this.#rendered(standsFor(parent, document, family));
      if (parent && !inherited) throw new SourceFailed();
      const layered = parent && inherited ? layerData(document, parent, inherited) : document.data;
      checkSize(document, layered);
      const { data, warnings, isSecret } = substitute(document, layered, sources, this.#patterns, this.#options);
      this.#data.set(document, data);
      if (isSecret) this.#secret.add(document);
      for (const warning of warnings) this.#report(document, warning);
    } catch (error) {
      this.#failed.add(document);
      if (error instanceof RenderingError) this.#report(document, error.finding);
      else if (!(error instanceof SourceFailed)) throw error;
    }
  }

  #rendered(document: LayeredDocument): Traced | undefined {
    return this.#failed.has(document) ? undefined : this.#data.get(document);
  }

  /** A selector that matches nothing is no error for Deckhand, which says nothing of it. */
  #reportAlone({ alone }: Family, ranks: ReadonlyMap<string, number>, isRaw: boolean): void {
    for (const document of alone) {
      // Of documents that may be rendered, the parent may have been an abstract one.
      if (document.isReplacement || (!isRaw && !this.#almostMatches(document, ranks))) continue;
      this.#report(document, {
        severity: 'warning',
        code: 'rendering.no-parent',
        message: `the parentSelector of ${title(document)} matches no document: it has its own data only`,
        hint: 'Correct parentSelector, or the labels of its parent.',
        path: ['metadata', 'layeringDefinition', 'parentSelector'],
        part: 'key',
      });
    }
  }

  /** Whether a document that could be the parent has a label that is selected, with another value. */
  #almostMatches(document: LayeredDocument, ranks: ReadonlyMap<string, number>): boolean {
    const rankOf = ({ layer = '' }: LayeredDocument): number => ranks.get(layer) ?? -1;
    const selected = Object.entries(document.selector ?? {});
    if (selected.every(([key, value]) => document.labels[key] === value)) return true;
    return this.#documents.some(
      (other) =>
        other.schema === document.schema &&
        rankOf(other) < rankOf(document) &&
        selected.some(([key]) => Object.hasOwn(other.labels, key)),
    );
  }

  /**
   * Whether the documents are to be rendered: true if they are, false if they have been, undefined if that makes no difference.
   * Rendered documents keep their layeringDefinition and substitutions. They have been rendered when none of them is abstract,
   * what layering and substitution would do is done, and some value shows it.
   */
  #isRaw(family: Family): boolean | undefined {
    if (this.#documents.some(({ isAbstract }) => isAbstract)) return true;
    const sources = this.#sources(family, ({ data }) => data);
    let signs = 0;
    for (const document of this.#documents) {
      const parent = family.parents.get(document);
      if (document.isReplacement && parent) return true;
      const found = signsOfRendering(document, parent, sources, this.#patterns);
      if (found === undefined) return true;
      signs += found;
    }
    // What a document had replaced is gone from rendered ones.
    const isSound = this.#problems.every(
      ({ diagnostic, isFormOnly }) => isFormOnly || !isError(diagnostic) || diagnostic.code === LOST_PARENT,
    );
    if (!isSound) return true;
    return signs > 0 ? false : undefined;
  }

  /** Without an order of layers, documents are as they are written: each that would change is a problem. */
  #withoutPolicy(): Rendering {
    const index = new LabelIndex(this.#documents);
    const sources = this.#sources(undefined, ({ data }) => data);
    const problems = this.#problems.filter(({ diagnostic }) => diagnostic.path?.startsWith('metadata.substitutions'));
    for (const document of this.#documents) {
      const parent = index.matching(document).find(({ schema }) => schema === document.schema);
      const isDone = signsOfRendering(document, parent, sources, this.#patterns) !== undefined;
      if (document.isAbstract || isDone) continue;
      const finding = {
        code: 'rendering.no-policy',
        message: `${title(document)} takes values of other documents, but the site has no LayeringPolicy`,
        hint: 'Add the deckhand/LayeringPolicy/v1 document with layerOrder, and all documents of the site.',
        path: ['metadata', parent ? 'layeringDefinition' : 'substitutions'],
        part: 'key' as const,
      };
      problems.push({ document, diagnostic: placeProblem(document.yaml, finding) });
    }
    return this.#asWritten('no-policy', problems);
  }

  #asWritten(kind: 'unchanged' | 'no-policy', problems: readonly RenderingProblem[]): Rendering {
    return {
      kind,
      documents: this.#documents.map((source) => ({ source, data: source.data, isSecret: false })),
      dropped: new Set(),
      problems,
      concerns: (isWanted) => isWanted,
    };
  }

  #concerns(
    isWanted: (document: GivenDocument) => boolean,
    dependenciesOf: (document: LayeredDocument) => readonly LayeredDocument[],
  ): (document: RenderingProblem['document']) => boolean {
    const open = this.#documents.filter(isWanted);
    const reached = new Set(open);
    const names = new Set<string>();
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      names.add(keyOf(next.schema, next.name));
      for (const { src } of next.substitutions) names.add(keyOf(src.schema, src.name));
      for (const one of dependenciesOf(next)) {
        if (reached.has(one)) continue;
        reached.add(one);
        open.push(one);
      }
    }
    return (document) => isWanted(document) || names.has(keyOf(document.schema, document.name ?? ''));
  }
}

const LOST_PARENT = 'rendering.replacement-without-parent';

/** Whose data a child gets: those of the replacement of its parent, unless it is this itself. */
function standsFor(parent: LayeredDocument, child: LayeredDocument, { replacements }: Family): LayeredDocument {
  const replacement = replacements.get(parent);
  return replacement && replacement !== child ? replacement : parent;
}

const keyOf = (schema: string, name: string): string => JSON.stringify([schema, name]);

/**
 * Whether layering and substitution leave a document as it is written, and how much shows that they have been there: values
 * of a parent or a source that it has. Undefined when they would change it, or when a value is missing.
 */
function signsOfRendering(
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
