import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import type { SourceFile } from './site/document-set.js';
import { parseYaml } from './yaml-document.js';

/**
 * The identity of a revision: SHA-256 (64 hexadecimal digits) over the data of its documents. Comments,
 * layout, file names and the order of files and documents do not count; two files swapped or one split
 * in two are the same revision. A file that is not valid YAML counts by its text, so that even a
 * forced revision has an identity.
 */
export function revisionHash(files: readonly SourceFile[]): string {
  const hashes = files.flatMap((file) => {
    const { documents, diagnostics } = parseYaml(file.text);
    const readable = documents.every((document) => document.usable) && !diagnostics.some(isUnreadable);
    if (!readable) return [sha256(`text\n${file.text}`)];
    return documents
      .filter((document) => !document.empty)
      .map((document) => sha256(`document\n${canonicalJson(document.value)}`));
  });
  return sha256(`revision 1\n${hashes.sort().join('\n')}`);
}

const isUnreadable = ({ severity, code }: { severity: string; code: string }): boolean =>
  severity === 'error' && code !== 'yaml.duplicate-key';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
