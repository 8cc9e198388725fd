import { MaasConfigurationError, MaasError } from '@sitewright/maas';
import { type Refusal, RefusalError } from '../core/problems/refusal.ts';
import { StoreError } from '../store/index.ts';

/** Every way a use case can refuse or fail. API, CLI and page show each code. */
export type ProblemCode =
  | 'invalid'
  | 'not-found'
  | 'conflict'
  | 'site-busy'
  | 'run-ended'
  | 'refused'
  | 'temporal-unreachable'
  | 'worker-unavailable'
  | 'workflow-task-failing'
  | 'paused-in-temporal'
  | 'undecodable'
  | 'maas-not-configured'
  | 'maas-failed'
  | 'store-failed'
  | 'unexpected';

export type Problem = Refusal<ProblemCode>;

/** The one error use cases throw. */
export class ProblemError extends RefusalError<ProblemCode> {
  override readonly name = 'ProblemError';
}

export const problem = (
  code: ProblemCode,
  message: string,
  more: Omit<Problem, 'code' | 'message'> = {},
): ProblemError => new ProblemError({ code, message, ...more });

/** The input of a run is invalid, with all problems. */
export const invalidInput = (problems: readonly string[]): ProblemError =>
  problem('invalid', problems.join('; '), {
    hint: 'Correct the named fields.',
    errors: problems.map((message) => ({ severity: 'error', code: 'run.input', message })),
  });

/** HTTP status of each code, and the exit code of the CLI (0 done, 1 run failed, 2 invalid, 3 not found, 4 conflict, 5 unreachable). */
export const PROBLEM_CODES: Readonly<
  Record<ProblemCode, { readonly status: number; readonly exit: number; readonly title: string }>
> = {
  invalid: { status: 400, exit: 2, title: 'Invalid request' },
  'not-found': { status: 404, exit: 3, title: 'Not found' },
  conflict: { status: 409, exit: 4, title: 'Conflict' },
  'site-busy': { status: 409, exit: 4, title: 'Site busy' },
  'run-ended': { status: 409, exit: 4, title: 'Run ended' },
  refused: { status: 409, exit: 4, title: 'Refused by the run' },
  'temporal-unreachable': { status: 503, exit: 5, title: 'Temporal unreachable' },
  'worker-unavailable': { status: 503, exit: 5, title: 'Worker unavailable' },
  'workflow-task-failing': { status: 503, exit: 5, title: 'Workflow task failing' },
  'paused-in-temporal': { status: 409, exit: 4, title: 'Paused in Temporal' },
  undecodable: { status: 503, exit: 5, title: 'Encryption key missing' },
  'maas-not-configured': { status: 503, exit: 5, title: 'MAAS not configured' },
  'maas-failed': { status: 502, exit: 5, title: 'MAAS failed' },
  'store-failed': { status: 503, exit: 5, title: 'The store failed' },
  unexpected: { status: 500, exit: 5, title: 'Internal error' },
};

/** Converts any error to a problem. An unknown error is a bug: only its message is kept. */
export function asProblem(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof StoreError) return storeProblem(error);
  if (error instanceof MaasConfigurationError) {
    return {
      code: 'maas-not-configured',
      message: error.message,
      hint: 'Set maas.url and maas.key_file, then start again.',
    };
  }
  if (error instanceof MaasError) {
    return { code: 'maas-failed', message: error.message, hint: error.failure.hint ?? "Run 'sitewright maas check'." };
  }
  return {
    code: 'unexpected',
    message: error instanceof Error ? error.message : String(error),
    hint: 'This is a defect: please report it with the log of the API.',
  };
}

/** What Fuel's clients and users know by another name than the store. */
const FUEL_TERMS: Readonly<Record<string, string>> = {
  cluster: 'Cluster',
  release: 'Release',
  plugin: 'Plugin',
  graph: 'DeploymentGraph',
  sequence: 'DeploymentSequence',
  transaction: 'Transaction',
  node: 'Node',
};

function storeProblem({ failure }: StoreError): Problem {
  const { message, hint } = failure;
  switch (failure.kind) {
    case 'invalid':
      return { code: 'invalid', message, hint, errors: failure.problems };
    case 'not-found': {
      const term = FUEL_TERMS[failure.what];
      return term === undefined
        ? { code: 'not-found', message, hint }
        : { code: 'not-found', message: `${term} not found`, hint: `${message} ${hint}` };
    }
    case 'conflict':
      return { code: 'conflict', message, hint };
    default:
      return { code: 'store-failed', message, hint };
  }
}
