import { workflowInfo } from '@temporalio/workflow';
import { explainCommon, failureType } from '../src/core/run/index.ts';
import type { ParsedRunInput } from '../src/core/run/input.ts';
import { GRAPH_RUN_KIND, SITE_RUN_KINDS } from '../src/core/words.ts';
import { failure } from './failures.ts';

/** The input of a workflow that users start. @throws when it is invalid: an exception would be retried for ever */
export function validInput<Input>(parsed: ParsedRunInput<Input>): Input {
  if (parsed.ok) return parsed.input;
  const invalid = { kind: 'invalid-input', problems: parsed.problems } as const;
  throw failure(failureType(invalid), explainCommon(invalid).reason, parsed.problems);
}

/** Ends a workflow that only runs start if a user has started it: nothing checks its input. */
export function assertStartedByRun(): void {
  const { parent, workflowType } = workflowInfo();
  if (parent !== undefined) return;
  const instead = [...SITE_RUN_KINDS, GRAPH_RUN_KIND].join(', ');
  throw failure(
    'StartedByRunsOnly',
    `only runs start ${workflowType}, as a part of their work: start one of ${instead}`,
  );
}
