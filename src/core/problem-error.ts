import type { Diagnostic } from './diagnostic.ts';

/** Why an operation failed, as the API and the command line show it. */
export interface Refusal<Code extends string = string> {
  readonly code: Code;
  /** What went wrong, for people. */
  readonly message: string;
  /** What to do next. */
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
