import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { SourceFile } from './site-texts.ts';

/** Problems in the order of files and lines. */
export function inOrderOfPlace(diagnostics: readonly Diagnostic[], files: readonly SourceFile[]): Diagnostic[] {
  const order = new Map(files.map((file, index) => [file.name, index]));
  const rank = (diagnostic: Diagnostic): number => order.get(diagnostic.file ?? '') ?? files.length;
  return [...diagnostics].sort(
    (a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}
