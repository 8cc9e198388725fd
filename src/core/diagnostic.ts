/**
 * One finding about something a user wrote. Every checker in the project (documents, graphs,
 * packages, YAQL) returns a list of these: all problems at once, each with its place and a next step.
 */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  /** Stable, dotted, lower case, e.g. `strategy.unknown-dependency`. Listed in docs/troubleshooting. */
  readonly code: string;
  /** One sentence for a person. No trailing place: printing adds it. */
  readonly message: string;
  /** What to do next, or "did you mean …". */
  readonly hint?: string;
  /** As the user named it; absent when the text came without a name. */
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
