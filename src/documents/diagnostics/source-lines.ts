import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { namesSecret } from '../../core/text/secrets.ts';

/** Text of the files that diagnostics are about, by the name in `Diagnostic.file`. */
export type Sources = ReadonlyMap<string, string> | readonly { readonly name: string; readonly text: string }[];

/** What a line of a document says that keeps a secret. */
const SECRET_DOCUMENT: readonly string[] = [
  ...['Passphrase', 'CertificateKey', 'CertificateAuthorityKey', 'PrivateKey'].map((kind) => `deckhand/${kind}/`),
  'storagePolicy:encrypted',
];

/** How far a document is read, each way, for whether it keeps a secret. */
const MOST_LINES = 5_000;

/** The lines of files, and which of them may be printed. */
export class SourceLines {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #lines = new Map<string, readonly string[]>();

  constructor(sources: Sources) {
    this.#texts = Array.isArray(sources)
      ? new Map(sources.map(({ name, text }) => [name, text]))
      : (sources as ReadonlyMap<string, string>);
  }

  get({ file, line }: Diagnostic): string | undefined {
    return line === undefined ? undefined : this.#of(file)?.[line - 1];
  }

  /** Whether the line, or what it belongs to, is probably a secret: by its key, or in a document of secrets. */
  isSecret({ file, line }: Diagnostic): boolean {
    const lines = this.#of(file) ?? [];
    const at = (line ?? 1) - 1;
    let indent = Number.POSITIVE_INFINITY;
    let isData = false;
    let start = at;
    for (; start >= 0 && start > at - MOST_LINES; start--) {
      const text = lines[start]!;
      if (start < at && text.startsWith('---')) break;
      const own = text.length - text.trimStart().length;
      if (text.trim() === '' || own >= indent) continue;
      indent = own;
      if (namesSecret(text)) return true;
      isData ||= own === 0 && !['schema:', 'metadata:'].some((head) => text.startsWith(head));
    }
    if (!isData) return false;
    for (let other = start + 1; other < lines.length && other < at + MOST_LINES; other++) {
      const text = lines[other]!;
      if (other > at && text.startsWith('---')) return false;
      const said = ['"', "'", ' '].reduce((left, sign) => left.replaceAll(sign, ''), text);
      if (SECRET_DOCUMENT.some((sign) => said.includes(sign))) return true;
    }
    return false;
  }

  #of(file: string | undefined): readonly string[] | undefined {
    // Only a single text may have no name.
    const name = file ?? (this.#texts.size === 1 ? [...this.#texts.keys()][0] : undefined);
    const text = name === undefined ? undefined : this.#texts.get(name);
    if (name === undefined || text === undefined) return undefined;
    let lines = this.#lines.get(name);
    if (!lines) {
      lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
      this.#lines.set(name, lines);
    }
    return lines;
  }
}
