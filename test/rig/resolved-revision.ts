import { loadSite, type SourceFile } from '../../src/documents/index.ts';

/** Files of documents with what they mean, as they are stored. */
export function resolvedRevision(files: readonly SourceFile[]) {
  const { site: resolved = null, diagnostics } = loadSite(files);
  return { files, resolved, diagnostics };
}
