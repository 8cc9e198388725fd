import type { Progress } from '../journal/journal.ts';
import type { TaskFailure, TaskResult, TryRecord } from '../journal/result.ts';
import { scrubValue } from './scrubber.ts';

/** Removes secrets from the parts of a result that a program or a file may have written. */
export function scrubResult(result: TaskResult, secrets: readonly string[]): TaskResult {
  return {
    ...result,
    failure: result.failure === null ? null : scrubFailure(result.failure, secrets),
    message: scrubValue(result.message, secrets),
    tries: scrubTries(result.tries, secrets),
    summary: scrubValue(result.summary, secrets),
  };
}

export function scrubProgress(progress: Progress, secrets: readonly string[]): Progress {
  return { ...progress, tries: scrubTries(progress.tries, secrets) };
}

const scrubTries = (tries: readonly TryRecord[], secrets: readonly string[]): TryRecord[] =>
  tries.map((record) => ({ ...record, message: scrubValue(record.message, secrets) }));

function scrubFailure(failure: TaskFailure, secrets: readonly string[]): TaskFailure {
  switch (failure.kind) {
    // These contain nothing from outside.
    case 'exit':
    case 'signal':
    case 'timeout':
    case 'interrupted':
    case 'not-rebooted':
    case 'journal':
      return failure;
    case 'refused':
      return {
        ...failure,
        problems: failure.problems.map((problem) => ({ ...problem, message: scrubValue(problem.message, secrets) })),
      };
    case 'files':
      return { ...failure, files: failure.files.map(({ path, reason }) => scrubFile(path, reason, secrets)) };
    case 'cancelled':
      return { ...failure, reason: scrubValue(failure.reason, secrets) };
    case 'busy':
      return { ...failure, holder: scrubValue(failure.holder, secrets) };
    case 'no-space':
    case 'io':
      return { ...failure, path: scrubValue(failure.path, secrets) };
    case 'refused-path':
      return { ...failure, path: scrubValue(failure.path, secrets), rule: scrubValue(failure.rule, secrets) };
    case 'missing-program':
      return { ...failure, program: scrubValue(failure.program, secrets) };
    case 'puppet-summary':
      return { ...failure, reason: scrubValue(failure.reason, secrets) };
    case 'defect':
      return { ...failure, message: scrubValue(failure.message, secrets) };
  }
}

const scrubFile = (path: string, reason: string, secrets: readonly string[]) => ({
  path: scrubValue(path, secrets),
  reason: scrubValue(reason, secrets),
});
