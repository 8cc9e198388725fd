import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { text, texts, variant, whole } from '../data/schema.ts';
import { continueRun } from '../next-steps.ts';
import { type AnyRunFailure, type Explained, explainCommon, listSome, refusedRequest } from '../run/failure.ts';
import type { Rejection } from '../scheduler/rejection.ts';
import type { FailureCause } from '../scheduler/tolerance.ts';
import { causeText, taskText } from '../task-on-node.ts';

/** Why a run cannot start or continue, as found by planning. Each of the `problems` has its location and a hint. */
export const planningFailure = z.discriminatedUnion('kind', [
  variant('cluster-not-found', { cluster: whole, message: text }),
  /** `holder`: the workflow of the run that has the cluster. */
  variant('cluster-busy', { message: text, holder: text, run_id: text }),
  refusedRequest,
  variant('graph-not-found', { type: text, message: text }),
  variant('plan-refused', { message: text, problems: texts }),
  variant('unavailable', { message: text }),
]);
export type PlanningFailure = Wire<typeof planningFailure>;

/** Why a graph run failed. The `type` of the workflow's failure in Temporal is the kind in PascalCase. */
export type GraphRunFailure =
  | PlanningFailure
  | AnyRunFailure<'step'>
  /** A graph ran and did not succeed. The graphs after it were not started. */
  | {
      readonly kind: 'graph-failed';
      readonly type: string;
      /** Absent: it could not continue. */
      readonly why?: FailureCause;
      readonly reason: string;
    };

const HOW_FAILED: Readonly<Record<FailureCause, string>> = {
  critical: 'failed',
  tolerance: 'was stopped: its fault tolerance is exceeded',
  rollout: 'was stopped by its rollout',
};

export function describeGraphRunFailure(failure: GraphRunFailure): string {
  switch (failure.kind) {
    case 'invalid-input':
      return explainCommon(failure).reason;
    case 'plan-refused':
      return listSome([failure.message, ...failure.problems], 6, '; ');
    case 'graph-failed':
      return `graph ${failure.type} ${HOW_FAILED[failure.why ?? 'critical']}: ${failure.reason}`;
    case 'step-failed':
      return `${failure.step}: ${failure.message}`;
    default:
      return failure.message;
  }
}

/** Why a run of a cluster failed, and the operator's next step. `transaction` is that of the run, if it has one. */
export const explainGraphRunFailure = (
  failure: GraphRunFailure,
  cluster: number,
  transaction: number | null,
): Explained => ({
  reason: describeGraphRunFailure(failure),
  next_step: nextStep(failure, cluster, transaction),
});

function nextStep(failure: GraphRunFailure, cluster: number, transaction: number | null): string {
  switch (failure.kind) {
    case 'invalid-input':
    case 'claim-lost':
    case 'request-refused':
      return explainCommon(failure).next_step;
    case 'cluster-not-found':
      return "'sitewright cluster list' lists the clusters";
    case 'cluster-busy':
      return `wait for ${failure.holder}, or stop it: temporal workflow signal --workflow-id ${failure.holder} --name stop`;
    case 'graph-not-found':
      return "'sitewright graph list' lists the graphs; upload the missing one, or start with another type";
    case 'plan-refused':
      return "correct the problems, check the result with 'sitewright graph plan --cluster CLUSTER', start again";
    case 'unavailable':
    case 'step-failed':
      return "run 'sitewright doctor', fix the problems it reports, start again";
    case 'graph-failed': {
      const back =
        failure.why === 'rollout'
          ? `take the version back ('sitewright cluster move ${cluster} --back') and run the graph again; or `
          : '';
      return transaction === null
        ? `${back}fix the named nodes, then start again`
        : `${back}fix the named nodes, then continue from the failed tasks: ${continueRun(transaction)}`;
    }
  }
}

/** Why an operator's request was rejected, and the alternative. @param nameOf how people call a node */
export function describeRejection(rejection: Rejection, nameOf = (node: string): string => node): string {
  const named = <T extends { readonly node: string }>(one: T): T => ({ ...one, node: nameOf(one.node) });
  switch (rejection.reason) {
    case 'unknown_task':
      return `there is no task ${taskText(rejection)} in the running graph: give the names of task and node as the query 'tree' lists them`;
    case 'unknown_node':
      return `there is no node ${rejection.node} in the running graph`;
    case 'not_failed':
      return `task ${taskText(named(rejection))} is ${rejection.status}: only a failed task can be retried`;
    case 'not_skippable': {
      const why =
        rejection.cause === undefined ? '' : ` because of ${causeText(named(rejection.cause))}: retry or skip that one`;
      return `task ${taskText(named(rejection))} is ${rejection.status}${why}; only a task that has not started or has failed can be skipped`;
    }
    case 'stopped':
      return 'the run was stopped: start a new run that continues from it instead (--from)';
    case 'exhausted':
      return 'the history of the run is nearly full (10,000 events): only first attempts still run. Let the run end, then start a new run that continues from it (--from)';
    case 'rollout':
      return rejection.why;
    case 'finished':
      return 'the graph has ended: start a new run that continues from it instead (--from)';
    case 'not_started':
      return 'no task runs yet: wait until the graph has started';
    case 'not_running':
    case 'not_a_part':
    case 'already_started':
    case 'ask_the_coordinator':
      return `the scheduler refused it: ${rejection.reason}`;
  }
}
