import { given } from '../data/given.ts';
import type { Diagnostic } from './diagnostic.ts';

/** Why an operation failed, as the API and the command line show it. */
export interface Refusal<Code extends string = string> {
  readonly code: Code;
  /** The error, for people. */
  readonly message: string;
  /** The next step. */
  readonly hint?: string;
  /** All findings, each with its place. */
  readonly errors?: readonly Diagnostic[];
  /** The run that causes the conflict. */
  readonly run?: { readonly id: string; readonly workflow_id: string };
}

/** An error that carries a refusal. */
export abstract class RefusalError<Code extends string> extends Error {
  readonly problem: Refusal<Code>;

  constructor(problem: Refusal<Code>, options?: ErrorOptions) {
    super(problem.message, options);
    this.problem = problem;
  }
}

/** The unusable part of a process's environment. */
type SetupProblem = 'cannot-listen' | 'enrolment' | 'module' | 'policy' | 'private-file' | 'settings' | 'state-folder';

/** A setting, a file or an address that a process was given cannot be used. Its operator can fix that: no defect. */
export class SetupError extends RefusalError<SetupProblem> {
  override readonly name: string = 'SetupError';

  constructor(
    code: SetupProblem,
    message: string,
    { hint, cause }: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super({ code, message, ...given({ hint }) }, { cause });
  }
}

/** The next step if no release is installed: a cluster is built from one. */
export const NO_RELEASES_HINT =
  "Install a release package: 'sitewright package install FILE'; 'sitewright package create FOLDER' writes one to start from.";
