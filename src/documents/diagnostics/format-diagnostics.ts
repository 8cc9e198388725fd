import { type Diagnostic, firstOfEachKind, groupProblems, printOthers } from '../../core/problems/diagnostic.ts';
import { SourceLines, type Sources } from './source-lines.ts';

export type { Sources } from './source-lines.ts';

interface FormatOptions {
  /** Colours for a terminal. Default: none. */
  readonly color?: boolean;
  /** Names the path of the value before the message, for messages that do not. */
  readonly paths?: boolean;
  /** Every problem, not only the first of each kind. */
  readonly all?: boolean;
}

const COLOURS = { error: 31, warning: 33, info: 36 } as const;
const WIDTH = 120;

/** `file:line:column: error[code]: message`: as editors and CI parse it. One line without line break. */
export function formatDiagnosticLine(diagnostic: Diagnostic, options: FormatOptions = {}): string {
  const paint = painter(options);
  const { severity, code, message, path } = diagnostic;
  const word = paint(`1;${COLOURS[severity]}`, `${severity}[${code}]`);
  return `${paint('1', placeOf(diagnostic))}${word}: ${options.paths && path ? `${printable(path)}: ` : ''}${printable(message)}`;
}

/**
 * Diagnostics for a person: each with the line of the source, the offending text underlined, and the
 * hint. Equal problems are printed once, with their other places; of many of one kind the first. A count comes last.
 * Ends with a line break; empty without problems.
 */
export function formatDiagnostics(
  diagnostics: readonly Diagnostic[],
  sources: Sources,
  options: FormatOptions = {},
): string {
  if (diagnostics.length === 0) return '';
  const lines = new SourceLines(sources);
  const paint = painter(options);
  const groups = groupProblems(diagnostics);
  const shown = options.all ? groups.map((group) => ({ ...group, alike: 0 })) : firstOfEachKind(groups);
  const blocks = shown.map(({ first: diagnostic, others, alike }) => {
    const block = [formatDiagnosticLine(diagnostic, options)];
    // A problem of a whole file or site has no source text to show.
    const line = isOfWholeFile(diagnostic) ? undefined : lines.get(diagnostic);
    if (line !== undefined && line.trim() !== '' && !lines.isSecret(diagnostic)) {
      const gutter = String(diagnostic.line);
      const { shown, marker } = underline(line, diagnostic);
      const bar = paint('2', '|');
      block.push(`${' '.repeat(2)}${paint('2', gutter)} ${bar} ${shown}`);
      block.push(
        `${' '.repeat(2 + gutter.length)} ${bar} ${paint(`${COLOURS[diagnostic.severity]}`, marker)}`.trimEnd(),
      );
    }
    if (diagnostic.hint !== undefined) block.push(`  ${paint('1', 'hint:')} ${printable(diagnostic.hint)}`);
    const more = printOthers(others);
    if (more !== undefined) block.push(`  ${printable(more)}`);
    if (alike > 0) block.push(`  and ${alike} more of this kind; --all shows them`);
    return block.join('\n');
  });
  return `${blocks.join('\n\n')}\n\n${formatCounts(diagnostics)}\n`;
}

/** `2 errors, 1 warning` */
export function formatCounts(diagnostics: readonly Diagnostic[]): string {
  const counts = (['error', 'warning', 'info'] as const).flatMap((severity) => {
    const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    const word = severity === 'info' ? 'remark' : severity;
    return count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`];
  });
  return counts.join(', ');
}

function placeOf({ file, line, column }: Diagnostic): string {
  const parts = [file === undefined ? undefined : printable(file), line, column].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : `${parts.join(':')}: `;
}

const isOfWholeFile = ({ text, path, line, column }: Diagnostic): boolean =>
  text === undefined && path === undefined && line === 1 && column === 1;

/** Keeps control characters and direction marks of a document away from the terminal. */
function printable(text: string): string {
  return text.replace(/[\t\n]/g, ' ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');
}

/** The part of the line around the place, with a squiggle below the offending text. */
function underline(line: string, diagnostic: Diagnostic): { shown: string; marker: string } {
  const characters = [...printable(line)];
  const start = Math.min(Math.max(0, (diagnostic.column ?? 1) - 1), characters.length);
  const text = [...(diagnostic.text ?? '')].length;
  const length = Math.max(1, Math.min(text, characters.length - start));
  // Cut long lines so that the place stays visible.
  const from = start > WIDTH - 20 ? start - 20 : 0;
  const to = Math.min(characters.length, from + WIDTH);
  const shown = `${from > 0 ? '…' : ''}${characters.slice(from, to).join('')}${to < characters.length ? '…' : ''}`;
  const indent = start - from + (from > 0 ? 1 : 0);
  return {
    shown,
    marker: `${' '.repeat(indent)}${'~'.repeat(Math.max(1, Math.min(length, to - start))).replace(/^./, '^')}`,
  };
}

function painter({ color = false }: FormatOptions): (style: string, text: string) => string {
  return (style, text) => (color && text !== '' ? `\u001b[${style}m${text}\u001b[0m` : text);
}
