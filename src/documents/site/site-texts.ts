import { isMapping } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { placeProblem } from '../diagnostics/place-problem.ts';
import type { ReadLimits } from '../reader/limits.ts';
import type { GivenDocument, SealedDocument } from '../rendering/render-documents.ts';
import { parseYaml, type YamlDocument } from '../yaml-document.ts';

/** A text with the name its user knows. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/** The documents of a site as they are written. */
export interface SiteTexts {
  /** In the order of files and lines. */
  readonly all: readonly YamlDocument[];
  /** Those that have a schema. */
  readonly layered: readonly GivenDocument[];
  readonly sealed: readonly SealedDocument[];
  /** Some documents could not be read. */
  readonly isIncomplete: boolean;
}

/** Folders of sites hold other YAML, too: only a line like this makes a file one of documents. */
const DOCUMENT_LINE = /^(?:schema|metadata|data|apiVersion:\s*["']?drydock\/)/m;

/** Reads the files of a site. Files beside the documents that hold none are left out with a warning. */
export function readSiteTexts(
  files: readonly SourceFile[],
  limits: Partial<ReadLimits>,
  report: (diagnostic: Diagnostic) => void,
): SiteTexts {
  const all: YamlDocument[] = [];
  const layered: GivenDocument[] = [];
  const sealed: SealedDocument[] = [];
  let isIncomplete = false;
  const hasDocuments = files.some(({ text }) => DOCUMENT_LINE.test(text));
  for (const file of files) {
    const { documents, diagnostics } = parseYaml(file.text, { file: file.name, limits });
    if (hasDocuments && isOther(file.text, documents)) {
      report(otherFile(file, documents[0]));
      continue;
    }
    const own = new Set(documents.flatMap((yaml) => yaml.diagnostics));
    for (const diagnostic of diagnostics) if (!own.has(diagnostic)) report(diagnostic);
    isIncomplete ||= diagnostics.some(({ code }) => code === 'yaml.syntax');
    for (const written of documents) {
      if (written.empty) continue;
      const managed = unwrapManaged(written);
      if (managed?.kind === 'sealed') {
        sealed.push(managed.document);
        continue;
      }
      const yaml = managed?.yaml ?? written;
      all.push(yaml);
      const schema = isMapping(yaml.value) ? yaml.value.schema : undefined;
      if (yaml.usable && typeof schema === 'string' && schema !== '') layered.push({ yaml, schema });
    }
  }
  return { all, layered, sealed, isIncomplete };
}

/** Whether a file holds something else than documents: a playbook, a chart's values, a template. */
function isOther(text: string, documents: readonly YamlDocument[]): boolean {
  if (DOCUMENT_LINE.test(text)) return false;
  const given = documents.filter(({ empty }) => !empty);
  return given.every(({ value }) => !isMapping(value) || !(HEADER in value)) && text.trim() !== '';
}

const HEADER = 'schema';

function otherFile(file: SourceFile, first: YamlDocument | undefined): Diagnostic {
  const finding = {
    severity: 'warning',
    code: 'document.other-file',
    message: 'this file holds no documents of a site and is not read',
    hint: 'A document is a mapping with schema, metadata and data.',
    path: [],
  } as const;
  if (first) return placeProblem(first, finding);
  const { path: _, ...rest } = finding;
  return { ...rest, file: file.name, line: 1, column: 1 };
}

const MANAGED_SCHEMA = /^pegleg\/PeglegManagedDocument\/v\d+$/;

type Managed =
  | { readonly kind: 'plain'; readonly yaml: YamlDocument }
  | { readonly kind: 'sealed'; readonly document: SealedDocument };

/** The document inside pegleg's wrapper, which keeps generated and encrypted secrets; undefined for any other document. */
function unwrapManaged(yaml: YamlDocument): Managed | undefined {
  const { value } = yaml;
  if (!isMapping(value) || !MANAGED_SCHEMA.test(String(value.schema))) return undefined;
  const inner = isMapping(value.data) ? value.data.managedDocument : undefined;
  if (!isMapping(inner)) return undefined;
  const { schema, metadata } = inner;
  const name = isMapping(metadata) ? metadata.name : undefined;
  if (typeof schema !== 'string' || typeof name !== 'string') return undefined;
  const at = ['data', 'managedDocument'];
  const unwrapped: YamlDocument = { ...yaml, value: inner, place: (path, part) => yaml.place([...at, ...path], part) };
  if (!isMapping(value.data) || value.data.encrypted === undefined) return { kind: 'plain', yaml: unwrapped };
  const reason = `${schema} '${name}' is encrypted by pegleg`;
  const hint = 'Decrypt the secrets of the site first: pegleg site secrets decrypt.';
  return { kind: 'sealed', document: { yaml: unwrapped, schema, name, reason, hint } };
}
