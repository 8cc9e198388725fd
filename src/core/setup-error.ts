import { RefusalError } from './problem-error.ts';

/** What of a process's surroundings cannot be used. */
type SetupProblem = 'cannot-listen' | 'enrolment' | 'module' | 'policy' | 'private-file' | 'settings' | 'state-folder';

/** A setting, a file or an address that a process was given cannot be used. Its operator can fix that: no defect. */
export class SetupError extends RefusalError<SetupProblem> {
  override readonly name: string = 'SetupError';

  constructor(
    code: SetupProblem,
    message: string,
    { hint, cause }: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super({ code, message, ...(hint === undefined ? {} : { hint }) }, { cause });
  }
}
