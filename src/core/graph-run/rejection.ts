import type { Rejection } from '../scheduler/index.ts';
import { causeText, taskText } from '../task-on-node.ts';

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
