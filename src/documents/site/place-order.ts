import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { SourceLines } from '../diagnostics/source-lines.ts';
import type { SourceFile } from './site-texts.ts';

/** Problems in the order of files and lines, without the source text of what is probably a secret. */
export function inOrderOfPlace(diagnostics: readonly Diagnostic[], files: readonly SourceFile[]): Diagnostic[] {
  const order = new Map(files.map((file, index) => [file.name, index]));
  const rank = (diagnostic: Diagnostic): number => order.get(diagnostic.file ?? '') ?? files.length;
  const lines = new SourceLines(files);
  const shown = diagnostics.map((diagnostic) => {
    if (diagnostic.text === undefined || !lines.isSecret(diagnostic)) return diagnostic;
    const { text: _, ...rest } = diagnostic;
    return rest;
  });
  return shown.sort((a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
