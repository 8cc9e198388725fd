import type { Rejection } from '../scheduler/index.js';

/** Why an operator's request cannot be met, and what can be done instead. */
export function describeRejection(rejection: Rejection): string {
  switch (rejection.reason) {
    case 'unknown_task':
      return `there is no task ${rejection.task} in the graph that runs: name it as task@node, the query 'tree' lists them`;
    case 'unknown_node':
      return `there is no node ${rejection.node} in the graph that runs`;
    case 'not_failed':
      return `task ${rejection.task} is ${rejection.status}: only a failed task can be retried`;
    case 'not_skippable': {
      const why = rejection.cause === undefined ? '' : ` because of ${rejection.cause}: retry or skip that one`;
      return `task ${rejection.task} is ${rejection.status}${why}; only a task that has not started, or that failed, can be skipped`;
    }
    case 'stopped':
      return 'the run was stopped: start another that goes on from it instead (--from)';
    case 'exhausted':
      return 'the history of the run is nearly full, so that only what has not run yet still runs: let it end, and start another that goes on from it (--from)';
    case 'finished':
      return 'the graph has come to its end: start another run that goes on from it instead (--from)';
    case 'not_begun':
      return 'no task runs yet: wait until the graph has begun';
    case 'not_running':
    case 'not_a_part':
    case 'already_begun':
    case 'ask_the_coordinator':
      return `the scheduler refused it: ${rejection.reason}`;
  }
}
