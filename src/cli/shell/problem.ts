import { given } from '../../core/data/given.ts';
import { type Refusal, RefusalError } from '../../core/problems/refusal.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** A problem for people and for `-f json`. */
export type CliProblem = Refusal;

/** The one error that commands throw. */
export class CliError extends RefusalError<string> {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(problem: CliProblem, exitCode: ExitCode) {
    super(problem);
    this.exitCode = exitCode;
  }
}

/** Wrong use of a command that commander cannot detect. */
export const usageError = (message: string, hint?: string): CliError =>
  new CliError({ code: 'usage', message, ...given({ hint }) }, EXIT.invalid);
