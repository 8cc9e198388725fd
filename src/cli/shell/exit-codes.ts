/** Exit codes of every command and process. docs/reference/cli.md explains them; there is no other list. */
export const EXIT = {
  done: 0,
  /** The command worked but its result is negative: a run failed, was stopped or cancelled; a package is not valid. */
  failed: 1,
  /** With `--detailed-exitcode`, a dry run or plan with something to do; any error is 1 then. */
  changes: 2,
  /** Wrong use, or invalid input. */
  invalid: 2,
  notFound: 3,
  conflict: 4,
  /** The API, Temporal, MAAS or the store could not be reached, or failed. */
  unreachable: 5,
  /** The API requires a token, or one with another role. */
  notAllowed: 6,
  /** Ctrl-C; a watched run continues. */
  interrupted: 130,
} as const;

/** What each means, in a few words, for the help. docs/reference/cli.md says more; a test compares the two. */
export const EXIT_MEANINGS: ReadonlyMap<ExitCode, string> = new Map<ExitCode, string>([
  [EXIT.done, 'done'],
  [EXIT.failed, 'done, with a negative result'],
  [EXIT.invalid, 'wrong usage, or invalid input'],
  [EXIT.notFound, 'not found'],
  [EXIT.conflict, 'conflict'],
  [EXIT.unreachable, 'unreachable, or failed'],
  [EXIT.notAllowed, 'not allowed'],
  [EXIT.interrupted, 'interrupted'],
]);

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Exit code for an answer of the API, by its HTTP status. */
export function exitCodeOfStatus(status: number): ExitCode {
  if (status === 404) return EXIT.notFound;
  if (status === 409) return EXIT.conflict;
  if (status === 401 || status === 403) return EXIT.notAllowed;
  // It is temporary.
  if (status === 429) return EXIT.unreachable;
  return status >= 500 ? EXIT.unreachable : EXIT.invalid;
}
