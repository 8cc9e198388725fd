import { valueAt } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { ReadLimits } from '../reader/limits.ts';
import { isPolicy } from '../rendering/layer-order.ts';
import { type Rendering, renderDocuments } from '../rendering/render-documents.ts';
import { renderedYaml } from '../rendering/rendered-yaml.ts';
import type { KnownSchema } from '../schemas/envelope.ts';
import { type DocumentMetadata, NODE_SCHEMA, SCHEMAS_OF_SITES } from '../schemas/envelope.ts';
import { type IgnoredDocument, readDocument, readUnrendered, type SiteDocument } from './site-document.ts';
import { readSiteTexts, type SourceFile } from './site-texts.ts';

/** All documents of a site, each schema and name once. */
export class DocumentSet {
  readonly #files: readonly SourceFile[];
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #documents = new Map<string, SiteDocument>();
  readonly #named = new Map<string, Set<string>>();
  readonly #ignored = new Map<string, IgnoredDocument[]>();
  /** Abstract documents of a site without layers. */
  readonly #bases: { readonly schema: KnownSchema; readonly metadata: DocumentMetadata }[] = [];
  #unreadable = 0;

  constructor(files: readonly SourceFile[], limits: Partial<ReadLimits>, report: (diagnostic: Diagnostic) => void) {
    this.#files = files;
    this.#report = report;
    const texts = readSiteTexts(files, limits, report);
    if (texts.isIncomplete) this.#unreadable += 1;
    const rendering = renderDocuments(texts.layered, texts.sealed, { isTolerant: true });
    const matters = rendering.concerns(({ schema }) => SCHEMAS_OF_SITES.includes(schema));
    this.#reportRendering(rendering, matters);
    const rendered = new Map(rendering.documents.map((one) => [one.source.yaml, renderedYaml(one)]));
    const failed = new Set(rendering.kind === 'rendered' ? texts.layered.map(({ yaml }) => yaml) : []);
    for (const written of texts.all) {
      if (rendering.dropped.has(written)) {
        for (const diagnostic of written.diagnostics) report(asWarning(diagnostic));
        continue;
      }
      const yaml = rendered.get(written);
      const read = yaml || !failed.has(written) ? readDocument(yaml ?? written, report) : readUnrendered(written);
      for (const diagnostic of written.diagnostics)
        report(read.kind === 'ignored' ? asWarning(diagnostic) : diagnostic);
      if (read.kind !== 'ignored' || !isUsed(read.document, matters)) this.#read(read);
    }
  }

  /** Documents of a schema with a valid envelope, in the order of files and lines. */
  of(schema: KnownSchema): SiteDocument[] {
    return [...this.#documents.values()].filter((document) => document.schema === schema);
  }

  /** Names of all documents of a schema except abstract ones, invalid ones included. */
  names(schema: KnownSchema): string[] {
    return [...(this.#named.get(schema) ?? [])];
  }

  /** Names of the abstract documents of a schema, which nothing uses. */
  abstractNames(schema: KnownSchema): string[] {
    return this.#bases.flatMap((base) => (base.schema === schema ? [base.metadata.name] : []));
  }

  /** Whether some document could not be read: it may be one that seems missing. */
  get incomplete(): boolean {
    return this.#unreadable > 0;
  }

  /** The place for problems of the whole site: the start of its first file. */
  anyPlace(): Pick<Diagnostic, 'file' | 'line' | 'column'> {
    const file = this.#files[0];
    return file ? { file: file.name, line: 1, column: 1 } : {};
  }

  /** Reports a site without nodes, and documents that are not used. */
  reportUse(nodes: number): void {
    for (const [schema, documents] of this.#ignored) {
      const count = documents.length === 1 ? '1 document' : `${documents.length} documents`;
      this.#report(
        placeProblem(documents[0]!.yaml, {
          severity: 'info',
          code: 'document.not-used',
          message: `${count} of the schema '${schema}' ${documents.length === 1 ? 'is' : 'are'} not used by a deployment`,
          path: ['schema'],
        }),
      );
    }
    if (nodes > 0 || this.names(NODE_SCHEMA).length > 0 || this.incomplete) return;
    this.#report({
      severity: 'warning',
      code: 'site.no-nodes',
      message: 'the site has no nodes: there is nothing to deploy',
      hint: `Add documents of the schema ${NODE_SCHEMA}.`,
      ...this.anyPlace(),
    });
  }

  /**
   * What keeps documents from being rendered is an error where a deployment reads them, or what they take values from; of others
   * it is their readers' to refuse.
   */
  #reportRendering({ kind, problems }: Rendering, matters: Matters): void {
    for (const problem of problems) {
      if (problem.isFormOnly && kind !== 'rendered') continue;
      const isRefused = matters(problem.document) && !problem.isFormOnly;
      this.#report(isRefused ? problem.diagnostic : asWarning(problem.diagnostic));
    }
  }

  #read(read: ReturnType<typeof readDocument>): void {
    switch (read.kind) {
      case 'document':
        this.#add(read.document);
        break;
      case 'ignored': {
        const { schema } = read.document;
        const others = this.#ignored.get(schema);
        if (others) others.push(read.document);
        else this.#ignored.set(schema, [read.document]);
        break;
      }
      case 'broken':
        if (read.schema === undefined || read.name === undefined) this.#unreadable += 1;
        else this.#name(read.schema, read.name);
        break;
      case 'abstract':
        this.#bases.push(read);
        break;
    }
  }

  #add(document: SiteDocument): void {
    const key = `${document.schema}\n${document.name}`;
    const first = this.#documents.get(key);
    this.#name(document.schema, document.name);
    if (!first) {
      this.#documents.set(key, document);
      return;
    }
    const replaces = document.metadata.replacement === true;
    if (replaces !== (first.metadata.replacement === true)) {
      // Deckhand's replacement: of two documents of one name, the one marked as replacement wins.
      const [winner, loser] = replaces ? [document, first] : [first, document];
      this.#documents.set(key, winner);
      this.#report(
        placeProblem(loser.yaml, {
          severity: 'info',
          code: 'document.replaced',
          message: `${document.schema} '${document.name}' is replaced by the one ${where(winner)}`,
          path: ['metadata', 'name'],
        }),
      );
      return;
    }
    this.#report(
      placeProblem(document.yaml, {
        code: document.schema === NODE_SCHEMA ? 'node.duplicate' : 'document.duplicate',
        message: `a second ${document.schema} is named '${document.name}'; the first is ${where(first)}`,
        hint: 'Names must be unique among the documents of a schema: rename or remove one.',
        path: ['metadata', 'name'],
      }),
    );
  }

  #name(schema: string, name: string): void {
    const names = this.#named.get(schema);
    if (names) names.add(name);
    else this.#named.set(schema, new Set([name]));
  }
}

type Matters = ReturnType<Rendering['concerns']>;

/** Whether documents that are read take their layers or values from it. */
function isUsed({ schema, yaml }: IgnoredDocument, matters: Matters): boolean {
  const name = valueAt(yaml.value, ['metadata', 'name']);
  if (SCHEMAS_OF_SITES.includes(schema)) return false;
  return isPolicy({ schema }) || matters({ yaml, schema, name: typeof name === 'string' ? name : undefined });
}

/**
 * Documents this program does not read are not its to refuse: charts of real sites repeat keys, and their
 * loader takes the last.
 */
const asWarning = (diagnostic: Diagnostic): Diagnostic =>
  diagnostic.severity === 'error' ? { ...diagnostic, severity: 'warning' } : diagnostic;

function where(document: SiteDocument): string {
  const { line } = document.yaml.place(['metadata', 'name']);
  const { file } = document.yaml.source;
  return file === undefined ? `on line ${line}` : `at ${file}:${line}`;
}
