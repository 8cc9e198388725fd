import { causeText } from '../task-on-node.ts';
import { apply } from './apply.ts';
import type { SchedulerCommand, SchedulerEvent } from './events.ts';
import { keyOf } from './graph.ts';
import { compileNamed, type NamedPlan, type NamedRefusal } from './named-plan.ts';
import { nodeStatus, rootCauses, taskReports } from './report.ts';
import { createScheduler } from './state.ts';
import type { NodeStatus, RunResult, TaskStatus } from './status.ts';
import { endIn, type FailureCause, type GraphEnd } from './tolerance.ts';

/** A plan with scripted outcomes, in the shape of the recorded cases of the reference executor. */
export interface Simulation extends Omit<NamedPlan, 'rollouts'> {
  readonly id: string;
  /** How tasks (`name@node`) end; the others succeed. All attempts of a task end the same way. */
  readonly outcomes?: Readonly<Record<string, 'fail' | 'fail_at_start'>>;
  /** Nodes that do not answer before the run. */
  readonly offline?: readonly string[];
  /** The user stops the run after this many tasks have ended, before the run reacts to that end; 0: before the run. */
  readonly stop_after?: number;
}

export interface SimulationResult {
  readonly id: string;
  readonly result: RunResult | 'refused';
  /** Of a failed one. */
  readonly why?: FailureCause;
  readonly reason?: NamedRefusal['reason'];
  /** The exact reason. */
  readonly refusal?: NamedRefusal;
  readonly tasks: Readonly<Record<string, TaskStatus>>;
  readonly nodes: Readonly<Record<string, NodeStatus>>;
  readonly root_causes: Readonly<Record<string, readonly string[]>>;
  /** Decimal text: weights may exceed 53 bits. */
  readonly weights: Readonly<Record<string, string>>;
  /** `t` is the pass, from 1. */
  readonly trace: readonly TraceEntry[];
}

export interface TraceEntry {
  readonly t: number;
  readonly event: 'start' | 'end';
  readonly task: string;
  readonly outcome?: TaskStatus;
}

/**
 * Runs a plan through the scheduler. Visits nodes in order, pass after pass; a task ends at the next visit of its node.
 * The reference was recorded in the same way, so that traces can be compared.
 */
export function simulate(simulation: Simulation): SimulationResult {
  const { id } = simulation;
  const nothing = { tasks: {}, nodes: {}, root_causes: {}, weights: {}, trace: [] };
  const compiled = compileNamed(simulation, simulation.offline);
  if (!compiled.ok)
    return { id, result: 'refused', reason: compiled.refusal.reason, refusal: compiled.refusal, ...nothing };
  const { graph, weights } = compiled;
  const s = createScheduler(graph, { visits: true, instantNoWork: false });
  const trace: TraceEntry[] = [];
  const running = new Map<number, { readonly task: number; readonly attempt: number; readonly work: boolean }>();
  /** Tasks that have started and not settled. Tasks that settle without a start are not in the trace. */
  const unended = new Set<number>();
  const furtherAttempts = new Map(graph.retries.map(([task, count]) => [task, count]));
  let end: GraphEnd | undefined;
  let pass = 0;
  let ended = 0;
  let now = 0;
  const drive = (event: SchedulerEvent): void => apply(s, event).forEach(take);
  const take = (command: SchedulerCommand): void => {
    switch (command.type) {
      case 'start':
        if (command.attempt === 1) {
          unended.add(command.task);
          trace.push({ t: pass, event: 'start', task: keyOf(graph, command.task) });
        }
        running.set(graph.nodeOf[command.task]!, command);
        return;
      case 'settled':
        if (unended.delete(command.task))
          trace.push({ t: pass, event: 'end', task: keyOf(graph, command.task), outcome: command.status });
        return;
      case 'wake':
        now = command.at;
        return;
      case 'finish':
        end = endIn(command);
        return;
      case 'retrying':
      case 'reopened':
      case 'permits':
      case 'look':
      case 'check':
      case 'stopping':
      case 'send':
      case 'rejected':
        return;
      default:
        command satisfies never;
    }
  };
  drive({ type: 'begin', offline: simulation.offline ?? [], now });
  if (simulation.stop_after === 0) drive({ type: 'stop' });
  while (end === undefined) {
    pass++;
    for (const [at, node] of graph.nodes.entries()) {
      const task = running.get(at);
      if (task !== undefined) {
        running.delete(at);
        const fails = task.work && Object.hasOwn(simulation.outcomes ?? {}, keyOf(graph, task.task));
        if (!fails || task.attempt > (furtherAttempts.get(task.task) ?? 0)) ended++;
        if (ended === simulation.stop_after) drive({ type: 'stop' });
        drive({ type: 'ended', task: task.task, attempt: task.attempt, outcome: fails ? 'failed' : 'success', now });
      }
      if (end !== undefined) break;
      drive({ type: 'visit', node });
    }
    if (end === undefined) drive({ type: 'tick', now });
  }
  const causes = rootCauses(s);
  return {
    id,
    ...end,
    tasks: Object.fromEntries(taskReports(s).map(({ status }, task) => [keyOf(graph, task), status])),
    nodes: Object.fromEntries(graph.nodes.map((node, n) => [node, nodeStatus(s, n)!])),
    root_causes: Object.fromEntries([...causes].map(([task, all]) => [keyOf(graph, task), all.map(causeText)])),
    weights: Object.fromEntries(weights.map((weight, task) => [keyOf(graph, task), weight.toString()])),
    trace,
  };
}
