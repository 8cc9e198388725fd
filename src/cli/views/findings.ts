import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { SourceFile } from '../../documents/index.ts';

type Finding = { [Key in keyof Diagnostic]: Diagnostic[Key] | undefined };

/** Findings with their source lines; empty without findings. */
export async function formatFindings(
  findings: readonly Finding[],
  files: readonly SourceFile[],
  { color, all = false }: { readonly color: boolean; readonly all?: boolean },
): Promise<string> {
  if (findings.length === 0) return '';
  const { formatDiagnostics } = await import('../../documents/diagnostics/format-diagnostics.ts');
  return `${formatDiagnostics(findings as readonly Diagnostic[], files, { color, all })}\n`;
}
