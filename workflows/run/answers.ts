/**
 * Shapes of activity results. A person can complete an activity by hand, with anything (`temporal activity complete`), so an
 * answer is read by its contract before a workflow uses it: one that does not fit is a failed activity, not a workflow that
 * no worker can continue.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type {
  AbortAnswer,
  FetchSourceAnswer,
  LoadPlanAnswer,
  OpenRunAnswer,
  SiteCheckAnswer,
} from '../../activities/contract.ts';
import type {
  AgentFacts,
  AskingGraph,
  OpenChecksAnswer,
  OpenGraphRunAnswer,
  PlanGraphAnswer,
  PlanReference,
  TaskEnd,
} from '../../activities/graph-contract.ts';
import type { PlannedCheck } from '../../src/core/checks/check.ts';
import type { GroupWire, Pace, SitePace, SitePlan } from '../../src/core/contracts/site-run.ts';
import { isMapping } from '../../src/core/data/plain-value.ts';
import {
  checkShape,
  flag,
  listOf,
  mapOf,
  nullable,
  oneOf,
  positiveInteger,
  recordOf,
  type Shape,
  valueThat,
  variantsOf,
} from '../../src/core/data/shape.ts';
import type { NodeResult } from '../../src/core/deployment/baremetal.ts';
import type { PlanningFailure } from '../../src/core/graph-run/failure.ts';
import type { ExecutablePart } from '../../src/core/graph-run/plan-reference.ts';
import { TASK_FAILURES, TASK_OUTCOMES } from '../../src/core/graph-run/task-end.ts';
import { PERMIT_WAITS, type PermitAnswer, type PermitWait } from '../../src/core/permits/answer.ts';
import type { Diagnostic } from '../../src/core/problems/diagnostic.ts';
import { type Amount, type Growth, isAmount, type RolloutPolicy, type StopAt } from '../../src/core/rollout/policy.ts';
import { describeFields } from '../../src/core/run/input.ts';
import type { Coordination } from '../../src/core/scheduler/partition.ts';
import type { RunFailure } from '../../src/core/site-run/failure.ts';
import { GRAPH_RUN_MODES } from '../../src/core/words.ts';
import type { Activities, ActivityName } from '../contract.ts';
import { failure } from './failures.ts';

type Answer<N extends ActivityName> = Awaited<ReturnType<Activities[N]>>;

const text = valueThat<string>((value) => typeof value === 'string', 'must be text');
const texts = listOf(text);
const number = valueThat<number>((value) => Number.isFinite(value), 'must be a number');
const whole = valueThat<number>((value) => Number.isSafeInteger(value), 'must be a whole number');
const wholes = listOf(whole);
const yes = valueThat<true>((value) => value === true, 'must be true');
const no = valueThat<false>((value) => value === false, 'must be false');
const time = valueThat<string>(
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  'must be a time',
);
/** A result typed by a person is at least `null`; the activity itself returns nothing. */
const nothing = valueThat<void>((value) => value === undefined, 'must be empty');
const nothingOr = <Word extends string>(word: Word) =>
  valueThat<Word | undefined>((value) => value === undefined || value === word, `must be empty or '${word}'`);

const listed = (value: unknown): boolean => Array.isArray(value) && value.every(Array.isArray);
const tuples: Shape<never> = valueThat<never>(listed, 'must be a list of lists');
const nodeGroups = listOf(
  recordOf<{ readonly name: string; readonly nodes: readonly number[]; readonly tolerance: number }>(
    { name: text, nodes: wholes, tolerance: number },
    {},
  ),
);

const kind = <K extends string>(word: K): Shape<K> => oneOf([word]);

const runFailure = variantsOf<'kind', RunFailure>('kind', {
  'invalid-input': recordOf({ kind: kind('invalid-input'), problems: texts }, {}),
  'claim-lost': recordOf({ kind: kind('claim-lost'), message: text }, {}),
  'step-failed': recordOf({ kind: kind('step-failed'), phase: text, type: text, message: text }, {}),
  'site-busy': recordOf({ kind: kind('site-busy'), site: text, workflow_id: text, run_id: text }, {}),
  'site-not-found': recordOf({ kind: kind('site-not-found'), site: text }, {}),
  'source-failed': recordOf({ kind: kind('source-failed'), site: text, message: text }, {}),
  'revision-not-found': recordOf({ kind: kind('revision-not-found'), site: text, revision: text }, {}),
  'documents-invalid': recordOf({ kind: kind('documents-invalid'), site: text, revision: whole, problems: texts }, {}),
  'holds-not-found': recordOf({ kind: kind('holds-not-found'), problems: texts }, {}),
  'checks-not-found': recordOf({ kind: kind('checks-not-found'), problems: texts }, {}),
  'nodes-not-found': recordOf({ kind: kind('nodes-not-found'), nodes: texts }, {}),
  'nodes-in-maintenance': recordOf(
    { kind: kind('nodes-in-maintenance'), nodes: listOf(recordOf({ node: text, why: text }, {})) },
    {},
  ),
  'override-refused': recordOf({ kind: kind('override-refused') }, {}),
  'verify-site-failed': recordOf({ kind: kind('verify-site-failed'), problems: texts }, {}),
  'prepare-site-failed': recordOf({ kind: kind('prepare-site-failed'), problems: texts }, {}),
  'release-failed': recordOf({ kind: kind('release-failed'), nodes: texts }, {}),
  'software-failed': recordOf({ kind: kind('software-failed'), cluster: whole, workflow_id: text, message: text }, {}),
  'critical-group-failed': recordOf(
    { kind: kind('critical-group-failed'), groups: listOf(recordOf({ name: text, reason: text }, {})) },
    {},
  ),
});

const diagnostics = listOf(
  recordOf<Diagnostic>(
    { severity: oneOf(['error', 'warning', 'info']), code: text, message: text },
    { hint: text, file: text, line: whole, column: whole, text, path: text },
  ),
);

const planningFailure = variantsOf<'kind', PlanningFailure>('kind', {
  'cluster-not-found': recordOf({ kind: kind('cluster-not-found'), cluster: whole, message: text }, {}),
  'cluster-busy': recordOf({ kind: kind('cluster-busy'), message: text, holder: text, run_id: text }, {}),
  'request-refused': recordOf(
    {
      kind: kind('request-refused'),
      code: oneOf(['invalid', 'not-found', 'conflict']),
      message: text,
      hint: text,
      errors: diagnostics,
    },
    {},
  ),
  'graph-not-found': recordOf({ kind: kind('graph-not-found'), type: text, message: text }, {}),
  'plan-refused': recordOf({ kind: kind('plan-refused'), message: text, problems: texts }, {}),
  unavailable: recordOf({ kind: kind('unavailable'), message: text }, {}),
});

const pace = recordOf<Pace>({ interval: number, timeout: number }, {});
const sitePace = recordOf<SitePace>(
  {
    ...{ verify_site: pace, prepare_site: pace, prepare: pace, deploy: pace, release: pace },
    ...{ max_parallel_nodes: whole, heartbeat_seconds: number },
  },
  {},
);
const amount = valueThat<Amount>(isAmount, 'must be a number of nodes or a percentage');
const growthBy = recordOf<{ readonly add?: Amount; readonly by?: Amount }>({}, { add: amount, by: amount });
const growth: Shape<Growth> = {
  problems: (value, path) => (isMapping(value) ? growthBy : oneOf(['all', 'double'])).problems(value, path),
};
const stopFailed = recordOf({ failed: positiveInteger }, {});
const stopPercent = recordOf({ percent: positiveInteger }, {});
const stopAt: Shape<StopAt> = {
  problems: (value, path) => (isMapping(value) && 'percent' in value ? stopPercent : stopFailed).problems(value, path),
};
const policyFields = { first: amount, growth, soak: number, stop_at: stopAt };
const rolloutPolicy = recordOf<RolloutPolicy>(policyFields, { checks: texts });
const rollout = recordOf<NonNullable<GroupWire['rollout']>>({ ...policyFields, order: wholes }, { checks: texts });
const group = recordOf<GroupWire>(
  { name: text, critical: flag, depends_on: texts, nodes: wholes },
  {
    success_criteria: recordOf(
      {},
      { percent_successful_nodes: number, minimum_successful_nodes: number, maximum_failed_nodes: number },
    ),
    rollout,
  },
);
const plannedChecks = listOf(
  recordOf<PlannedCheck>(
    { name: text, each: oneOf(['node', 'wave']), seconds: number },
    { on_nodes: oneOf(['together', 'alone']) },
  ),
);
const sitePlan = recordOf<SitePlan>(
  {
    ...{ site: text, revision: whole, hash: text, nodes: texts, groups: listOf(group), pace: sitePace },
    ...{ done: wholes, removed: texts, warnings: texts },
  },
  {
    ...{ commit: text, commit_url: text, cluster: whole },
    maintenance: listOf(recordOf({ node: text, reason: text, since: time, by: text }, {})),
    limits: recordOf<NonNullable<SitePlan['limits']>>({ at_a_time: whole }, {}),
    checks: plannedChecks,
  },
);

const planReference = recordOf<PlanReference>(
  {
    ...{ hash: text, tasks: whole, nodes: whole, mode: oneOf(GRAPH_RUN_MODES) },
    parts: listOf(recordOf({ chunks: whole, tasks: whole, skipped: whole, nodes: whole }, {})),
    coordination: nullable(recordOf({ chunks: whole }, { apart: yes })),
    warnings: texts,
  },
  {
    ...{ nothing_to_do: listOf(recordOf({ reason: text, count: whole }, {})), limits: yes },
    checks: recordOf<NonNullable<PlanReference['checks']>>({ site: text, revision: whole, checks: plannedChecks }, {}),
  },
);

const openedWithin = { approved_by_another: flag, notices: flag };
const openedRun = { search_attributes: texts, ...openedWithin };

const siteCheck = recordOf<SiteCheckAnswer>({ ok: flag, problems: texts, warnings: texts }, { changes: texts });

const nodeResult = variantsOf<'ok', NodeResult>('ok', {
  true: recordOf({ ok: yes }, { system_id: text, model: text, warnings: texts }),
  false: recordOf({ ok: no, failure: recordOf({ kind: text, message: text }, { hint: text }) }, { system_id: text }),
});

const permitAnswer = recordOf<PermitAnswer>(
  {
    granted: texts,
    waits: listOf(
      recordOf<PermitWait>(
        { kind: oneOf(PERMIT_WAITS), limit: text, machines: whole, behind: texts, since: time },
        { until: time },
      ),
    ),
  },
  {},
);

const abortAnswer = recordOf<AbortAnswer>(
  { found: oneOf(['aborted', 'deployed', 'ready', 'failed', 'running', 'nothing']), message: text },
  {},
);

const taskEnd = recordOf<TaskEnd>(
  {
    outcome: oneOf([...TASK_OUTCOMES]),
  },
  {
    ...{
      message: text,
      exit_code: whole,
      changed: flag,
      started_at: time,
      ended_at: time,
      failure_kind: oneOf([...TASK_FAILURES]),
      tries: whole,
      output: text,
    },
    summary: mapOf(
      valueThat<string | number | boolean>(
        (value) => ['string', 'number', 'boolean'].includes(typeof value),
        'must be text, a number, true or false',
      ),
    ),
  },
);

const agentFacts = recordOf<AgentFacts>(
  { node: text, agent_version: text, boot_id: text, task_types: texts, containment: text },
  { started: flag },
);

const ANSWERS: { readonly [N in ActivityName]: Shape<Answer<N>> } = {
  open_run: variantsOf<'ok', OpenRunAnswer>('ok', {
    true: recordOf({ ok: yes, number: whole, ...openedRun }, { prefix: text, started_by: text }),
    false: recordOf({ ok: no, failure: runFailure, ...openedWithin }, { prefix: text, started_by: text }),
  }),
  fetch_source: variantsOf<'ok', FetchSourceAnswer>('ok', {
    true: recordOf({ ok: yes, revision: whole, commit: text, deployed: flag }, {}),
    false: recordOf({ ok: no, failure: runFailure }, {}),
  }),
  load_plan: variantsOf<'ok', LoadPlanAnswer>('ok', {
    true: recordOf({ ok: yes, plan: sitePlan }, {}),
    false: recordOf({ ok: no, failure: runFailure }, {}),
  }),
  verify_site: siteCheck,
  prepare_site: siteCheck,
  prepare_node: nodeResult,
  deploy_node: nodeResult,
  release_node: nodeResult,
  abort_node: abortAnswer,
  last_errors: mapOf(text),
  ask_maas: recordOf({ since: nullable(text) }, {}),
  look_at_node: abortAnswer,
  inspect_nodes: recordOf({ counts: mapOf(whole), problems: listOf(recordOf({ node: text, problem: text }, {})) }, {}),
  run_check: recordOf(
    { unwell: listOf(recordOf({ verdict: oneOf(['failed', 'unknown']), text, nodes: wholes }, {})) },
    {},
  ),
  record_nodes: nothing,
  take_permits: permitAnswer,
  await_permits: permitAnswer,
  close_run: nothingOr('records-differ'),
  open_graph_run: variantsOf<'ok', OpenGraphRunAnswer>('ok', {
    true: recordOf(
      {
        ...{ ok: yes, ...openedRun, transaction: whole, heartbeat_seconds: number, offline_wait_seconds: number },
        ...{ agent_heartbeat_seconds: number, busy_slack_seconds: number, execution: text },
        cluster: recordOf({ id: whole, name: text, site: nullable(text) }, {}),
        graphs: listOf(recordOf({ transaction: whole, type: text }, {})),
        warnings: diagnostics,
      },
      { prefix: text, started_by: text, max_events: whole },
    ),
    false: recordOf({ ok: no, failure: planningFailure, ...openedWithin }, { prefix: text, started_by: text }),
  }),
  plan_graph: variantsOf<'ok', PlanGraphAnswer>('ok', {
    true: recordOf({ ok: yes, plan: planReference }, {}),
    false: recordOf({ ok: no, failure: planningFailure }, {}),
  }),
  open_checks: variantsOf<'ok', OpenChecksAnswer>('ok', {
    true: recordOf(
      { ok: yes, graphs: listOf(recordOf<AskingGraph>({ transaction: whole, type: text, plan: planReference }, {})) },
      {},
    ),
    false: recordOf({ ok: no, why: text }, {}),
  }),
  load_graph_part: recordOf({ text }, {}),
  record_tasks: nothing,
  close_graph: nothingOr('records-missing'),
  close_graph_run: nothing,
  run_task: taskEnd,
  ping: agentFacts,
  cancel_task: nothing,
  drain: recordOf({ unfinished: texts }, {}),
  find_tried: recordOf({ activities: texts }, {}),
  find_approval: recordOf({ found: flag }, {}),
  plan_notice: recordOf({ receivers: texts, give_up_seconds: number }, {}),
  deliver_notice: recordOf({ delivered: flag, status: nullable(whole), message: nullable(text) }, {}),
};

/** The parts of a plan for execution: JSON, loaded in chunks. */
export interface Pieces {
  readonly part: ExecutablePart;
  readonly coordination: Coordination;
}

const lists = listOf(wholes);
/** The text comes from the store by the plan's hash: lists are checked for being there, not for agreeing with each other. */
const PIECES: { readonly [P in keyof Pieces]: Shape<Pieces[P]> } = {
  part: recordOf<ExecutablePart>(
    {
      graph: recordOf<ExecutablePart['graph']>(
        {
          ...{
            nodes: texts,
            sync: wholes,
            critical: wholes,
            names: texts,
            nameOf: wholes,
            nodeOf: wholes,
            rank: wholes,
          },
          ...{ noWork: wholes, forgiven: wholes, retries: tuples, successors: lists, joins: whole, nameLimit: wholes },
          ...{ nodeLimit: whole, groups: nodeGroups, mode: oneOf(GRAPH_RUN_MODES) },
        },
        {
          part: valueThat<never>(isMapping, 'must be an object'),
          rollouts: listOf(recordOf({ name: text, policy: rolloutPolicy, waves: lists }, {})),
        },
      ),
      ...{
        queues: listOf(nullable(text)),
        master: text,
        controls: listOf(nullable(text)),
        agents: texts,
        types: texts,
        typeOf: wholes,
        timeouts: listOf(number),
        timeoutOf: wholes,
      },
    },
    { names: texts },
  ),
  coordination: recordOf<Coordination>(
    {
      ...{ parts: whole, nodes: texts, partOf: wholes, critical: wholes, groups: nodeGroups, nodeLimit: whole },
      ...{ classLimits: tuples, tasks: tuples, joins: tuples },
    },
    {},
  ),
};

/** @throws ActivityFailure when the loaded text is not such a piece */
export function readPiece<P extends keyof Pieces>(piece: P, json: string): Pieces[P] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalidAnswer('load_graph_part', [`the ${piece} of the plan is not JSON (${String(error).slice(0, 100)})`]);
  }
  const read = checkShape<Pieces[P]>(PIECES[piece], value);
  if (read.ok) return read.value;
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
  const shape: Shape<Answer<N>> = ANSWERS[name];
  const read = checkShape(shape, answer);
  if (read.ok) return read.value;
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
