/**
 * The scheduler of `execute_graph`: `apply` processes events, changes the scheduler and returns commands. No clock, no I/O.
 *
 * A workflow drives it like this:
 *
 * ```ts
 * const compiled = compilePlan(plan);                       // outside the workflow; the graph is plain JSON
 * if (!compiled.ok) refuse(compiled.refusal);
 * const scheduler = createScheduler(compiled.graph);        // or restoreScheduler(graph, snapshot)
 * const inbox: SchedulerEvent[] = [{ type: 'begin', offline, now: Date.now() }];
 * // Signal handlers push 'pause', 'resume', 'stop'; updates first ask rejectionOf(scheduler, event),
 * // then push 'retry_task' or 'skip_task'; a timer pushes 'tick'; an activity's end pushes 'ended'.
 * while (!finished) {
 *   await condition(() => inbox.length > 0);                // one waiter for the whole run
 *   for (const event of inbox.splice(0)) {
 *     for (const command of apply(scheduler, event)) {
 *       switch (command.type) {
 *         case 'start':      // run the activity of graph task command.task, then push
 *                            // { type: 'ended', task, attempt, outcome, now: Date.now() }
 *         case 'wake':       // (re)set the one timer, then push { type: 'tick', now: Date.now() }
 *         case 'settled':    // history row; also 'retrying' and 'reopened'
 *         case 'stopping':   // phase for status
 *         case 'finish':     // command.result is the run's result
 *         case 'rejected':   // the event was late or not possible; nothing changed
 *       }
 *     }
 *   }
 * }
 * ```
 *
 * A big run is split: `partition(graph, partOfNode)` returns a graph per child workflow and the plan of a coordinator
 * for the parent. A child is driven as above, but starts with its first message. Its `send` commands become
 * signals to the parent, which passes them to `coordinate` and signals the resulting messages to the children.
 * Its end, `endOfPart`, is its result. Cross-child dependencies, joins, limits and failures travel only in these batches. Pause and stop go to the
 * coordinator, operator updates to the child that owns the task.
 *
 * The rules are those of Astute, as recorded from it (test/data/scheduler), with corrections. Comments name each deviation from the reference.
 */

export { apply, rejectionOf, wouldRetry } from './apply.ts';
export { compilePlan } from './compile.ts';
export type { CoordinatorCommand, CoordinatorEvent } from './coordinator.ts';
export { coordinate, createCoordinator, isQuiet, processedBy } from './coordinator.ts';
export type { CoordinatorSnapshot } from './coordinator-snapshot.ts';
export { keepCoordinator, restoreCoordinator } from './coordinator-snapshot.ts';
export type { SchedulerCommand, SchedulerEvent } from './events.ts';
export type { SchedulerGraph } from './graph.ts';
export { keyOf, pairOf } from './graph.ts';
export type { Join, Links } from './links.ts';
export { linkTasks, stillToDo } from './links.ts';
export { awaitingApproval } from './operator.ts';
export { endOfPart } from './part-exchange.ts';
export type { FromPart, PartEnd, Sender, ToPart } from './part-messages.ts';
export type { Coordination, SplitRun } from './partition.ts';
export { partition } from './partition.ts';
export type { PlanLimits, Refusal, SchedulerPlan, Subgraph } from './plan.ts';
export type { Rejection } from './rejection.ts';
export { nodeStatus, progress, rootCauses, shownReports, taskReports } from './report.ts';
export { workLeft } from './rest.ts';
export { showRollouts } from './rollouts.ts';
export type { SchedulerSnapshot } from './snapshot.ts';
export { restoreScheduler, takeSnapshot } from './snapshot.ts';
export type { Scheduler, SchedulerOptions } from './state.ts';
export { createScheduler } from './state.ts';
export type { NodeStatus, RunResult, SettledStatus } from './status.ts';
export type { FailureCause, GraphEnd } from './tolerance.ts';
export { endIn, tolerated } from './tolerance.ts';
