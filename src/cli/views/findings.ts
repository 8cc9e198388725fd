import type { Diagnostic } from '../../core/diagnostic.js';
import type { SourceFile } from '../../documents/index.js';

type Finding = { [Key in keyof Diagnostic]: Diagnostic[Key] | undefined };

/** Findings with the lines of the files they are about; empty when there is nothing to say. */
export async function formatFindings(
  findings: readonly Finding[],
  files: readonly SourceFile[],
  color: boolean,
): Promise<string> {
  if (findings.length === 0) return '';
  const { formatDiagnostics } = await import('../../documents/diagnostics/format-diagnostics.js');
  return `${formatDiagnostics(findings as readonly Diagnostic[], files, { color })}\n`;
}
