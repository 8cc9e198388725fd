/**
 * Schemas of activity results. A person can complete an activity by hand, with anything (`temporal activity complete`), so an
 * answer is read by its contract before a workflow uses it: one that does not fit is a failed activity, not a workflow that
 * no worker can continue.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import * as z from 'zod/mini';
import {
  abortAnswer,
  fetchSourceAnswer,
  inspectNodesAnswer,
  loadPlanAnswer,
  openRunAnswer,
  runCheckAnswer,
  siteCheckAnswer,
} from '../../activities/contract.ts';
import { agentFacts, openChecksAnswer, openGraphRunAnswer, planGraphAnswer } from '../../activities/graph-contract.ts';
import { checkFields, flag, number, text, texts, valueThat, whole } from '../../src/core/data/schema.ts';
import { nodeResult } from '../../src/core/deployment/baremetal.ts';
import { type ExecutablePart, executablePart } from '../../src/core/graph-run/plan-reference.ts';
import { taskEnd } from '../../src/core/graph-run/task-end.ts';
import { permitAnswer } from '../../src/core/permits/answer.ts';
import { describeFields } from '../../src/core/run/input.ts';
import { type Coordination, coordination } from '../../src/core/scheduler/partition.ts';
import type { Activities, ActivityName } from '../contract.ts';
import { failure } from './failures.ts';

type Answer<N extends ActivityName> = Awaited<ReturnType<Activities[N]>>;

/** A result typed by a person is at least `null`; the activity itself returns nothing. */
const nothing = valueThat<void>((value) => value === undefined, 'must be empty');
const nothingOr = <Word extends string>(word: Word) =>
  valueThat<Word | undefined>((value) => value === undefined || value === word, `must be empty or '${word}'`);

const ANSWERS: { readonly [N in ActivityName]: z.core.$ZodType<Answer<N>> } = {
  open_run: openRunAnswer,
  fetch_source: fetchSourceAnswer,
  load_plan: loadPlanAnswer,
  verify_site: siteCheckAnswer,
  prepare_site: siteCheckAnswer,
  prepare_node: nodeResult,
  deploy_node: nodeResult,
  release_node: nodeResult,
  abort_node: abortAnswer,
  last_errors: z.record(z.string(), text),
  ask_maas: z.object({ since: z.nullable(text) }),
  look_at_node: abortAnswer,
  inspect_nodes: inspectNodesAnswer,
  run_check: runCheckAnswer,
  record_nodes: nothing,
  take_permits: permitAnswer,
  await_permits: permitAnswer,
  close_run: nothingOr('records-differ'),
  open_graph_run: openGraphRunAnswer,
  plan_graph: planGraphAnswer,
  open_checks: openChecksAnswer,
  load_graph_part: z.object({ text }),
  record_tasks: nothing,
  close_graph: nothingOr('records-missing'),
  close_graph_run: nothing,
  run_task: taskEnd,
  ping: agentFacts,
  cancel_task: nothing,
  drain: z.object({ unfinished: texts }),
  find_tried: z.object({ activities: texts }),
  find_approval: z.object({ found: flag }),
  plan_notice: z.object({ receivers: texts, give_up_seconds: number }),
  deliver_notice: z.object({ delivered: flag, status: z.nullable(whole), message: z.nullable(text) }),
};

/** The parts of a plan for execution: JSON, loaded in chunks. */
export interface Pieces {
  readonly part: ExecutablePart;
  readonly coordination: Coordination;
}

/** The text comes from the store by the plan's hash. */
const PIECES: { readonly [P in keyof Pieces]: z.core.$ZodType<Pieces[P]> } = { part: executablePart, coordination };

/** @throws ActivityFailure when the loaded text is not such a piece */
export function readPiece<P extends keyof Pieces>(piece: P, json: string): Pieces[P] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalidAnswer('load_graph_part', [`the ${piece} of the plan is not JSON (${String(error).slice(0, 100)})`]);
  }
  const read = checkFields(PIECES[piece], value);
  // Not the copy: a part has thousands of entries, and an answer of a newer version more fields.
  if (read.ok) return value as Pieces[P];
  throw invalidAnswer('load_graph_part', describeFields(read.problems));
}

/** The type of the failure of an activity whose answer does not fit its contract. */
const INVALID_ANSWER = 'InvalidAnswer';

/**
 * The answer of an activity.
 *
 * @throws ActivityFailure when it does not fit the contract, as if the activity itself had failed
 */
export function readAnswer<N extends ActivityName>(name: N, answer: unknown, activityId = ''): Answer<N> {
  const read = checkFields(ANSWERS[name], answer);
  if (read.ok) return answer as Answer<N>;
  throw invalidAnswer(name, describeFields(read.problems), activityId);
}

/** Whether the result of an activity violates its contract, as one completed by a person may. */
export const isInvalidAnswer = (error: unknown): boolean =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === INVALID_ANSWER;

/** At most three of its problems. */
function invalidAnswer(name: ActivityName, problems: readonly string[], activityId = ''): ActivityFailure {
  const more = problems.length > 3 ? ` and ${problems.length - 3} more` : '';
  const message = `the result of ${name} is not an answer of this activity: ${problems.slice(0, 3).join('; ')}${more}. Was it completed by hand?`;
  const cause = failure(INVALID_ANSWER, message);
  return new ActivityFailure(message, name, activityId, 'NON_RETRYABLE_FAILURE', 'the workflow', cause);
}
