import type { Diagnostic } from '../../core/diagnostic.js';
import type { SourceFile } from '../../documents/index.js';

type Finding = { [Key in keyof Diagnostic]: Diagnostic[Key] | undefined };

/** Findings with their source lines; empty without findings. */
export async function formatFindings(
  findings: readonly Finding[],
  files: readonly SourceFile[],
  { color, all = false }: { readonly color: boolean; readonly all?: boolean },
): Promise<string> {
  if (findings.length === 0) return '';
  const { formatDiagnostics } = await import('../../documents/diagnostics/format-diagnostics.js');
  return `${formatDiagnostics(findings as readonly Diagnostic[], files, { color, all })}\n`;
}
