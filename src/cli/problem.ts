import type { Diagnostic } from '../core/diagnostic.js';
import { EXIT, type ExitCode } from './exit-codes.js';

/** What went wrong, as a person reads it and as `-f json` prints it: the fields of the API's problems. */
export interface CliProblem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly errors?: readonly Diagnostic[];
  readonly run?: { readonly id: string; readonly workflow_id: string };
}

/** The one error that commands throw. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly problem: CliProblem;
  readonly exitCode: ExitCode;

  constructor(problem: CliProblem, exitCode: ExitCode) {
    super(problem.message);
    this.problem = problem;
    this.exitCode = exitCode;
  }
}

/** Wrong use of a command, which commander could not see. */
export const usageError = (message: string, hint?: string): CliError =>
  new CliError({ code: 'usage', message, ...(hint === undefined ? {} : { hint }) }, EXIT.invalid);
