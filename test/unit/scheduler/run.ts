import { apply } from '../../../src/core/scheduler/apply.ts';
import type { SchedulerCommand, SchedulerEvent } from '../../../src/core/scheduler/events.ts';
import { keyOf } from '../../../src/core/scheduler/graph.ts';
import { compileNamed, type NamedPlan } from '../../../src/core/scheduler/named-plan.ts';
import { taskReports } from '../../../src/core/scheduler/report.ts';
import type { Scheduler, SchedulerOptions } from '../../../src/core/scheduler/state.ts';
import { createScheduler } from '../../../src/core/scheduler/state.ts';
import { causeText, type TaskOnNode, taskText } from '../../../src/core/task-on-node.ts';

/** A scheduler in a test's hands: the test ends tasks, and reads the scheduler's output. */
export function run(plan: NamedPlan, options: SchedulerOptions = {}) {
  const compiled = compileNamed(plan);
  if (!compiled.ok) throw new Error(`refused: ${JSON.stringify(compiled.refusal)}`);
  const scheduler = createScheduler(compiled.graph, options);
  const attempts = new Map<number, number>();
  const log = (commands: readonly SchedulerCommand[]): string[] => {
    for (const command of commands) if (command.type === 'start') attempts.set(command.task, command.attempt);
    return commands.map((command) => line(scheduler, command));
  };
  const numberOf = (key: string): number => numberIn(scheduler, key);
  const send = (...events: SchedulerEvent[]): string[] => log(apply(scheduler, ...events));
  const end = (outcome: 'success' | 'failed' | 'not_reached') => (key: string, now?: number) => {
    const task = numberOf(key);
    return send({
      type: 'ended',
      task,
      attempt: attempts.get(task) ?? 0,
      outcome,
      ...(now === undefined ? {} : { now }),
    });
  };
  return {
    scheduler,
    numberOf,
    send,
    begin: () => send({ type: 'begin', now: 0 }),
    succeed: end('success'),
    fail: end('failed'),
    withdraw: end('not_reached'),
    statuses: () => Object.fromEntries(taskReports(scheduler).map((report) => [taskText(report), report.status])),
  };
}

/** The number of a task of the plan, written as the plan refers to it. */
export const numberIn = ({ graph }: Scheduler, key: string): number =>
  graph.nameOf.findIndex((_, task) => keyOf(graph, task) === key);

/** `a@n1` of a test. */
export function pair(key: string): TaskOnNode {
  const [task, node] = key.split('@') as [string, string];
  return { task, node };
}

function line({ graph }: Scheduler, command: SchedulerCommand): string {
  const named = 'task' in command ? keyOf(graph, command.task) : '';
  switch (command.type) {
    case 'start':
      return `start ${named}${command.attempt > 1 ? ` #${command.attempt}` : ''}`;
    case 'settled': {
      const cause = command.cause === undefined ? '' : ` by ${causeText(command.cause)}`;
      return `${named} ${command.status}${cause}`;
    }
    case 'retrying':
      return `${named} again at ${command.due}`;
    case 'wake':
      return `wake at ${command.at}`;
    case 'reopened':
      return `${named} reopened`;
    case 'stopping':
      return `stopping: ${command.why}`;
    case 'finish':
      return `finish: ${command.result}`;
    case 'rejected':
      return `rejected: ${command.rejection.reason}`;
    default:
      return command.type;
  }
}

/** Nodes n1, n2 …, tasks `a@n1` and so on; all nodes tolerate failures unless given otherwise. */
export function planOf(tasks: string[], edges: string[] = [], more: Partial<NamedPlan> = {}): NamedPlan {
  const nodes = [...new Set(tasks.map((key) => key.split('@')[1]!))];
  return {
    nodes: nodes.map((id) => ({ id, kind: id.startsWith('sync') ? 'sync' : 'node' })),
    tasks: tasks.map((key) => ({ id: key.split('@')[0]!, node: key.split('@')[1]! })),
    edges: edges.map((edge) => edge.split(' > ') as [string, string]),
    fault_tolerance_groups: [{ name: 'all', node_ids: nodes, fault_tolerance: nodes.length }],
    ...more,
  };
}
