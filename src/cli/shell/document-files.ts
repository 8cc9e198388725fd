import type { SourceFile } from '../../documents/index.ts';
import { EXIT } from './exit-codes.ts';
import { CliError } from './problem.ts';

/** Reads the user's files and folders. @throws CliError with all that could not be read */
export async function readDocuments(paths: readonly string[]): Promise<readonly SourceFile[]> {
  const { readDocumentFiles } = await import('../../documents/read-folder.ts');
  const { files, diagnostics, missing } = await readDocumentFiles(paths);
  if (diagnostics.length === 0) return files;
  throw new CliError(
    { code: 'files', message: 'not all files could be read', errors: diagnostics },
    missing.length === diagnostics.length ? EXIT.notFound : EXIT.invalid,
  );
}
