import type { Diagnostic } from '../diagnostic.js';
import { isMapping } from '../plain-value.js';
import { GRAPH_RUN_MODES } from '../words.js';
import type { Simulation } from './simulate.js';
import { amountOf } from './strategy.js';
import { tolerated } from './tolerance.js';

export type ReadSimulation =
  | { readonly ok: true; readonly simulation: Simulation }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

type Fields = Readonly<Record<string, unknown>>;

/**
 * Checks the shape of one simulation input. Names that do not resolve are no matter of shape: they
 * refuse the run. Fields it does not know are left alone (recorded cases carry an `about`).
 */
export function readSimulation(value: unknown): ReadSimulation {
  const check = new Checker();
  const input = check.object(value, '');
  if (input === undefined) return { ok: false, problems: check.problems };
  check.text(input.id, 'id');
  check.each(input.nodes, 'nodes', (node, path) => {
    const fields = check.object(node, path);
    if (fields === undefined) return;
    check.text(fields.id, `${path}.id`);
    if (isGiven(fields.kind)) check.oneOf(fields.kind, ['node', 'sync'], `${path}.kind`);
  });
  check.each(input.tasks, 'tasks', (task, path) => {
    const fields = check.object(task, path);
    if (fields === undefined) return;
    check.text(fields.id, `${path}.id`);
    check.text(fields.node, `${path}.node`);
    if (isGiven(fields.type)) check.text(fields.type, `${path}.type`);
    if (isGiven(fields.fail_on_error)) check.flag(fields.fail_on_error, `${path}.fail_on_error`);
    if (isGiven(fields.strategy)) check.object(fields.strategy, `${path}.strategy`);
    const retry = isGiven(fields.retry) ? check.object(fields.retry, `${path}.retry`) : undefined;
    if (retry === undefined) return;
    check.count(retry.count, `${path}.retry.count`);
    check.count(retry.interval, `${path}.retry.interval`);
  });
  check.each(input.edges ?? [], 'edges', (edge, path) => {
    if (Array.isArray(edge) && edge.length === 2 && edge.every((end) => typeof end === 'string')) return;
    check.problem(path, 'an edge is a pair of tasks', 'Write ["name@node", "name@node"].');
  });
  check.each(input.joins ?? [], 'joins', (join, path) => {
    const fields = check.object(join, path);
    if (fields === undefined) return;
    check.texts(fields.before, `${path}.before`);
    check.texts(fields.after, `${path}.after`);
  });
  checkLimits(check, input.limits);
  check.each(input.fault_tolerance_groups ?? [], 'fault_tolerance_groups', (group, path) => {
    const fields = check.object(group, path);
    if (fields === undefined) return;
    check.text(fields.name, `${path}.name`);
    check.texts(fields.node_ids, `${path}.node_ids`);
  });
  check.each(input.subgraphs ?? [], 'subgraphs', (subgraph, path) => {
    const fields = check.object(subgraph, path);
    if (fields === undefined) return;
    check.texts(fields.start ?? [], `${path}.start`);
    check.texts(fields.end ?? [], `${path}.end`);
  });
  if (isGiven(input.outcomes)) {
    const outcomes = check.object(input.outcomes, 'outcomes') ?? {};
    for (const [task, outcome] of Object.entries(outcomes)) {
      check.oneOf(outcome, ['fail', 'fail_at_start'], `outcomes.${task}`);
    }
  }
  check.texts(input.offline ?? [], 'offline');
  check.texts(input.only ?? [], 'only');
  if (isGiven(input.stop_after)) check.count(input.stop_after, 'stop_after');
  if (isGiven(input.mode)) check.oneOf(input.mode, GRAPH_RUN_MODES, 'mode');
  if (check.problems.length > 0) return { ok: false, problems: check.problems };
  return { ok: true, simulation: normalised(input) };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function checkLimits(check: Checker, value: unknown): void {
  if (!isGiven(value)) return;
  const limits = check.object(value, 'limits') ?? {};
  if (isGiven(limits.max_nodes)) check.count(limits.max_nodes, 'limits.max_nodes');
  if (!isGiven(limits.per_task)) return;
  for (const [name, limit] of Object.entries(check.object(limits.per_task, 'limits.per_task') ?? {})) {
    // It stands for the same strategy on each task of the name: text counts as there, and a negative one is refused.
    if (!Number.isInteger(limit) && typeof limit !== 'string')
      check.problem(`limits.per_task.${name}`, 'must be a whole number', 'Use 0 for no limit.');
  }
}

/** Drops what is null, so that "null" and "absent" mean the same, and works out limits and tolerances. */
function normalised(input: Fields): Simulation {
  const plan = withoutNulls(input as unknown as Simulation);
  const groups = plan.fault_tolerance_groups ?? [];
  const perTask = Object.entries(plan.limits?.per_task ?? {});
  return {
    ...plan,
    limits: {
      ...withoutNulls(plan.limits ?? {}),
      per_task: Object.fromEntries(perTask.map(([name, amount]) => [name, amountOf({ type: 'parallel', amount })])),
    },
    edges: plan.edges ?? [],
    tasks: plan.tasks.map((task) => withoutNulls(task)),
    fault_tolerance_groups: groups.map((group) => ({
      ...group,
      fault_tolerance: tolerated(group.fault_tolerance, group.node_ids.length),
    })),
  };
}

const withoutNulls = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value))) as T;

/** Collects problems with the path of keys at which they are. */
class Checker {
  readonly problems: Diagnostic[] = [];

  problem(path: string, message: string, hint: string): void {
    this.problems.push({
      severity: 'error',
      code: 'simulation.bad-input',
      message: path === '' ? message : `${path}: ${message}`,
      hint,
      ...(path === '' ? {} : { path }),
    });
  }

  object(value: unknown, path: string): Fields | undefined {
    if (isMapping(value)) return value as Fields;
    this.problem(path, `must be an object, is ${kindOf(value)}`, 'Write {"…": …}.');
    return undefined;
  }

  each(value: unknown, path: string, item: (value: unknown, path: string) => void): void {
    if (!Array.isArray(value)) {
      this.problem(path, `must be a list, is ${kindOf(value)}`, 'Write […]; empty is [].');
      return;
    }
    value.forEach((one, at) => {
      item(one, `${path}[${at}]`);
    });
  }

  texts(value: unknown, path: string): void {
    this.each(value, path, (one, at) => this.text(one, at));
  }

  text(value: unknown, path: string): void {
    if (typeof value !== 'string')
      this.problem(path, `must be text, is ${kindOf(value)}`, 'Put it into double quotes.');
  }

  flag(value: unknown, path: string): void {
    if (typeof value !== 'boolean')
      this.problem(path, `must be true or false, is ${kindOf(value)}`, 'Write true or false.');
  }

  count(value: unknown, path: string): void {
    if (Number.isInteger(value) && (value as number) >= 0) return;
    this.problem(
      path,
      `must be a whole number of 0 or more, is ${JSON.stringify(value) ?? 'missing'}`,
      'Leave it out for the default.',
    );
  }

  oneOf(value: unknown, words: readonly string[], path: string): void {
    if (typeof value === 'string' && words.includes(value)) return;
    this.problem(
      path,
      `must be one of ${words.join(', ')}, is ${JSON.stringify(value) ?? 'missing'}`,
      `Write "${words[0]}".`,
    );
  }
}

const kindOf = (value: unknown): string =>
  value === undefined ? 'missing' : value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
