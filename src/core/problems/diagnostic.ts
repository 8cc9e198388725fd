/**
 * One problem in something that a user wrote. Every checker of the project (documents, graphs, packages, YAQL) returns
 * all problems, each with its location and a next step.
 */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  /** Stable, dotted, lower case, e.g. `strategy.unknown-dependency`. Listed in docs/reference/troubleshooting.md. */
  readonly code: string;
  /** One sentence for the user, without the location: the printer adds it. */
  readonly message: string;
  /** The next step, or "did you mean …". */
  readonly hint?: string;
  /** The file name that the user gave; absent for text without a name. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  /** 1-based, in code points. */
  readonly column?: number;
  /** The offending text itself, cut to 200 characters. */
  readonly text?: string;
  /** Path of keys inside the document, e.g. `data.groups[2].depends_on[0]`. */
  readonly path?: string;
}

export const isError = (d: Diagnostic): boolean => d.severity === 'error';

/** Problems with the same message: the first one, and the others. */
interface ProblemGroup<P> {
  readonly first: P;
  readonly others: readonly P[];
}

/** Groups problems that differ only in their location, in the order of first occurrence. For printers. */
export function groupProblems<P extends Pick<Diagnostic, 'severity' | 'code' | 'message'>>(
  problems: readonly P[],
): ProblemGroup<P>[] {
  const groups = new Map<string, { first: P; others: P[] }>();
  for (const problem of problems) {
    const key = JSON.stringify([problem.severity, problem.code, problem.message]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: problem, others: [] });
    else group.others.push(problem);
  }
  return [...groups.values()];
}

/** Groups of problems for a screen; `alike` counts further problems of the kind of the group that are left out. */
interface ShownGroup<P> extends ProblemGroup<P> {
  readonly alike: number;
}

const SHOWN_OF_A_KIND = 3;

/**
 * The first groups of each kind: problems whose messages differ only in quoted names and numbers, such as the same
 * lack on each of 200 nodes, are of one kind. The last group of a kind counts those left out.
 */
export function firstOfEachKind<P extends Pick<Diagnostic, 'severity' | 'code' | 'message'>>(
  groups: readonly ProblemGroup<P>[],
): ShownGroup<P>[] {
  const kinds = new Map<string, { at: number; groups: number }>();
  const shown: { first: P; others: readonly P[]; alike: number }[] = [];
  for (const { first, others } of groups) {
    const key = JSON.stringify([first.severity, first.code, first.message.replace(/'[^']*'|"[^"]*"|\d+/g, '…')]);
    const kind = kinds.get(key);
    if (kind !== undefined && kind.groups >= SHOWN_OF_A_KIND) {
      shown[kind.at]!.alike += 1 + others.length;
      continue;
    }
    kinds.set(key, { at: shown.length, groups: (kind?.groups ?? 0) + 1 });
    shown.push({ first, others, alike: 0 });
  }
  return shown;
}

const SHOWN_PLACES = 5;

/** `and 184 more like it: tasks.yaml:12:3, tasks.yaml:20:3, …`; undefined when there are no others. */
export function printOthers(
  others: readonly Pick<Diagnostic, 'file' | 'line' | 'column' | 'path'>[],
): string | undefined {
  if (others.length === 0) return undefined;
  const places = others.slice(0, SHOWN_PLACES).flatMap(({ file, line, column, path }) => {
    const place = [file, line, column].filter((part) => part !== undefined).join(':');
    return line === undefined && path !== undefined ? [path] : place === '' ? [] : [place];
  });
  if (others.length > SHOWN_PLACES && places.length > 0) places.push('…');
  return `and ${others.length} more like it${places.length === 0 ? '' : `: ${places.join(', ')}`}`;
}
