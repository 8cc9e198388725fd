/**
 * The scheduler of `execute_graph`: `apply` processes events, changes the scheduler and returns commands. No clock, no I/O.
 *
 * A workflow drives it like this:
 *
 * ```ts
 * const compiled = compilePlan(plan, offline);              // outside the workflow; the graph is plain JSON
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
 *         case 'start':      // run the activity on command.node's queue, then push
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
 * Cross-child dependencies, joins, limits and failures travel only in these batches. Pause and stop go to the
 * coordinator, operator updates to the child that owns the task.
 *
 * Rules: `reference/astute-and-agents.md` §2 with its corrections. Comments name each deviation from the reference.
 */

export { apply, rejectionOf, wouldRetry } from './apply.js';
export { compilePlan } from './compile.js';
export type { EarlierTask } from './continue-from.js';
export { continueFrom } from './continue-from.js';
export type { CoordinatorCommand, CoordinatorEvent } from './coordinator.js';
export { coordinate, createCoordinator, isQuiet } from './coordinator.js';
export type { Rejection, SchedulerCommand, SchedulerEvent } from './events.js';
export type { SchedulerGraph } from './graph.js';
export { keyOf } from './graph.js';
export { awaitingApproval } from './operator.js';
export type { FromPart, ToPart } from './part-messages.js';
export type { Coordination, SplitRun } from './partition.js';
export { blocksOfNodes, partition } from './partition.js';
export type { PlanLimits, Refusal, SchedulerPlan, Subgraph } from './plan.js';
export { taskKey } from './plan.js';
export { nodeStatus, progress, rootCauses, shownReports, taskReports } from './report.js';
export { workLeft } from './rest.js';
export type { SchedulerSnapshot } from './snapshot.js';
export { restoreScheduler, takeSnapshot } from './snapshot.js';
export type { Scheduler, SchedulerOptions } from './state.js';
export { createScheduler } from './state.js';
export type { NodeStatus, RunResult, SettledStatus } from './status.js';
export { tolerated } from './tolerance.js';
