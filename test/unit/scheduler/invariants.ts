import type { Simulation, SimulationResult, TraceEntry } from '../../../src/core/scheduler/simulate.ts';

/** The observations of a drive: every start and end in order, the statuses at the end, and the result. */
export interface Observed {
  /** Of a failed run: why. */
  readonly result: string;
  readonly tasks: Readonly<Record<string, string>>;
  readonly nodes: Readonly<Record<string, string>>;
  readonly rootCauses: Readonly<Record<string, readonly string[]>>;
  /** Starts and ends in order; `stop` marks the user's stop. */
  readonly trace: readonly (Pick<TraceEntry, 'task' | 'outcome'> & { readonly event: 'start' | 'end' | 'stop' })[];
}

/** The observations of a simulated run. The user's stop has its place in it: right behind the end that it waited for. */
export function observed(plan: Simulation, run: SimulationResult): Observed {
  const trace: Observed['trace'][number][] = [];
  let ended = 0;
  const stop = (): void => {
    if (ended === plan.stop_after) trace.push({ event: 'stop', task: '' });
  };
  stop();
  for (const entry of run.trace) {
    trace.push(entry);
    if (entry.event !== 'end') continue;
    ended++;
    stop();
  }
  return { result: run.why ?? run.result, tasks: run.tasks, nodes: run.nodes, rootCauses: run.root_causes, trace };
}

export interface Leeway {
  /** A split run learns of limits, failures and stops of other parts a message later. */
  readonly split?: boolean;
}

/**
 * The invariants of test/data/scheduler/README.md ("Invariants for every run", "The result follows
 * from the final statuses alone"), computed from the plan by plain definitions, not by the scheduler's code.
 */
export function violations(plan: Simulation, seen: Observed, leeway: Leeway = {}): string[] {
  const wrong: string[] = [];
  const model = new Model(plan);
  const started = new Set<string>();
  const endedWith = new Map<string, string>();
  const busy = new Map<string, string>();
  const running = new Map<string, number>();
  // How many nodes in no group may be missing nobody said: the others run to their end.
  const failedNodes = new Set((plan.offline ?? []).filter((node) => model.isInGroup(node)));
  const lostBefore = model.lostByAbsence();
  let stopped = false;
  for (const { event, task, outcome } of seen.trace) {
    if (event === 'stop') {
      stopped = true;
      continue;
    }
    const { name, node } = model.tasks.get(task)!;
    if (event === 'end') {
      if (!started.has(task) || endedWith.has(task)) wrong.push(`${task} ended without having started, or twice`);
      if (busy.get(node) === task) busy.delete(node);
      running.set(name, running.get(name)! - 1);
      endedWith.set(task, outcome!);
      if (outcome === 'failed')
        for (const lost of model.lostBy(task, started))
          if (!lostBefore.has(lost)) failedNodes.add(model.tasks.get(lost)!.node);
      if (outcome === 'failed') failedNodes.add(node);
      continue;
    }
    if (started.has(task)) wrong.push(`${task} started twice`);
    if (busy.has(node)) wrong.push(`${task} started while ${busy.get(node)} ran on its node`);
    if (stopped && !leeway.split) wrong.push(`${task} started after the user's stop`);
    if (!leeway.split && model.exceeded(failedNodes)) wrong.push(`${task} started after too many nodes failed`);
    if (plan.offline?.includes(node)) wrong.push(`${task} started on an offline node`);
    if (model.onNode(node).some((other) => endedWith.get(other) === 'failed'))
      wrong.push(`${task} started on a failed node`);
    for (const before of model.before(task)) {
      const how = endedWith.get(before);
      const finished = how !== undefined || (seen.tasks[before] === 'blocked' && !started.has(before));
      const good = how !== undefined && how !== 'failed';
      if (model.isSync(node) ? !finished : !good)
        wrong.push(`${task} started before ${before} (${how ?? 'not ended'})`);
    }
    if (!leeway.split) {
      const better = model.betterThan(task, started).find((other) => {
        const limit = model.limits.get(model.tasks.get(other)!.name) ?? 0;
        const full = limit > 0 && (running.get(model.tasks.get(other)!.name) ?? 0) >= limit;
        const ready = model.before(other).every((b) => endedWith.has(b) && endedWith.get(b) !== 'failed');
        return ready && !full;
      });
      if (better !== undefined) wrong.push(`${task} was chosen over ${better}`);
    }
    started.add(task);
    busy.set(node, task);
    running.set(name, (running.get(name) ?? 0) + 1);
    const limit = model.limits.get(name) ?? 0;
    if (limit > 0 && running.get(name)! > limit) wrong.push(`${running.get(name)} of ${name} run, ${limit} may`);
    const most = plan.limits?.max_nodes ?? 0;
    if (most > 0 && busy.size > most) wrong.push(`${busy.size} nodes are busy, ${most} may be`);
  }
  checkEnd(plan, model, seen, started, endedWith, wrong);
  return wrong;
}

function checkEnd(
  plan: Simulation,
  model: Model,
  seen: Observed,
  started: ReadonlySet<string>,
  endedWith: ReadonlyMap<string, string>,
  wrong: string[],
): void {
  const failed = new Set<string>();
  for (const [key, status] of Object.entries(seen.tasks)) {
    if (started.has(key) && endedWith.get(key) !== status)
      wrong.push(`${key} ended as ${endedWith.get(key)}, reported ${status}`);
    if (!started.has(key) && status !== 'blocked' && status !== 'skipped' && status !== 'not_reached')
      wrong.push(`${key} is ${status} without a start`);
    const { node } = model.tasks.get(key)!;
    const needsFailed =
      !model.isSync(node) && model.before(key).some((b) => seen.tasks[b] === 'failed' || seen.tasks[b] === 'blocked');
    const nodeFailed =
      plan.offline?.includes(node) ||
      model.onNode(node).some((other) => other !== key && seen.tasks[other] === 'failed');
    const lost = (needsFailed || nodeFailed) && !started.has(key);
    if (lost !== (status === 'blocked')) wrong.push(`${key} is ${status}, lost: ${lost}`);
    if (status === 'failed' || status === 'blocked') failed.add(node);
    const causes = seen.rootCauses[key] ?? [];
    if (status === 'blocked') {
      if (causes.length === 0) wrong.push(`${key} has no root cause`);
      const real = model.causes(key, seen.tasks, plan.offline ?? []);
      for (const cause of causes) if (!real.has(cause)) wrong.push(`${key}: ${cause} does not explain it`);
    } else if (causes.length > 0) wrong.push(`${key} is ${status} and has causes`);
  }
  for (const node of plan.offline ?? []) failed.add(node);
  const undone = Object.entries(seen.tasks).filter(
    ([k, status]) => status === 'not_reached' && model.tasks.get(k)!.work,
  );
  const result = [...failed].some((node) => model.isCritical(node))
    ? 'critical'
    : model.exceeded(failed)
      ? 'tolerance'
      : undone.length > 0
        ? 'stopped'
        : 'success';
  if (result !== seen.result) wrong.push(`result ${seen.result}, by the statuses ${result}`);
  for (const { id } of plan.nodes) {
    const skipped = undone.some(([key]) => model.tasks.get(key)!.node === id);
    const word = failed.has(id) ? 'failed' : skipped ? 'not_reached' : 'success';
    if (seen.nodes[id] !== word) wrong.push(`node ${id} is ${seen.nodes[id]}, by its tasks ${word}`);
  }
}

/** A plan by definitions: every edge of every join written out, weights by memoised recursion. */
export class Model {
  readonly tasks = new Map<string, { name: string; node: string; place: number; work: boolean }>();
  readonly limits = new Map<string, number>();
  readonly predecessors = new Map<string, Set<string>>();
  readonly successors = new Map<string, Set<string>>();
  readonly #weights = new Map<string, bigint>();
  readonly #plan: Simulation;

  constructor(plan: Simulation) {
    this.#plan = plan;
    plan.tasks.forEach((task, place) => {
      const work = !['noop', 'stage', 'skipped'].includes(task.type ?? 'task');
      const only = plan.only === undefined || plan.only.includes(`${task.id}@${task.node}`);
      this.tasks.set(`${task.id}@${task.node}`, { name: task.id, node: task.node, place, work: work && only });
    });
    for (const key of this.tasks.keys()) {
      this.predecessors.set(key, new Set());
      this.successors.set(key, new Set());
    }
    const products = (plan.joins ?? []).flatMap(({ before, after }) =>
      before.flatMap((a) => after.map((b) => [a, b] as const)),
    );
    for (const [from, to] of [...plan.edges, ...products]) {
      if (from === to) continue;
      this.predecessors.get(to)!.add(from);
      this.successors.get(from)!.add(to);
    }
    for (const { id } of plan.nodes) {
      for (const task of plan.tasks.filter((t) => t.node === id)) {
        const own = Object.hasOwn(plan.limits?.per_task ?? {}, task.id) ? plan.limits!.per_task![task.id] : undefined;
        const strategy = own === undefined ? task.strategy : { type: 'parallel', amount: own };
        const words: Readonly<Record<string, unknown>> = { one_by_one: 1, parallel: strategy?.amount };
        this.limits.set(task.id, Number.parseInt(String(words[strategy?.type ?? '']), 10) || 0);
      }
    }
    for (const [key, task] of this.tasks) if (!this.#isKept(key)) task.work = false;
  }

  /** In any of the subgraphs: at or behind one of its starts, and at or ahead of one of its ends. */
  #isKept(key: string): boolean {
    const { subgraphs = [] } = this.#plan;
    const named = (entry: string, at: string): boolean => {
      const { name, node } = this.tasks.get(at)!;
      if (entry === name) return true;
      if (!entry.startsWith(`${name}/`)) return false;
      return entry
        .slice(name.length + 1)
        .split(',')
        .some((part) => {
          const [low, high] = part.split('-').map(Number);
          return part === node || (high !== undefined && low! <= Number(node) && Number(node) <= high);
        });
    };
    const reaches = (
      entries: readonly string[] | undefined,
      next: ReadonlyMap<string, ReadonlySet<string>>,
    ): boolean => {
      if (entries === undefined || entries.length === 0) return true;
      const seen = new Set<string>([key]);
      for (const at of seen) for (const to of next.get(at)!) seen.add(to);
      return [...seen].some((at) => entries.some((entry) => named(entry, at)));
    };
    return (
      subgraphs.length === 0 ||
      subgraphs.some(({ start, end }) => reaches(start, this.predecessors) && reaches(end, this.successors))
    );
  }

  isSync = (node: string): boolean => this.#plan.nodes.find((n) => n.id === node)!.kind === 'sync';
  before = (key: string): string[] => [...this.predecessors.get(key)!];
  onNode = (node: string): string[] => [...this.tasks].filter(([, t]) => t.node === node).map(([key]) => key);

  isInGroup = (node: string): boolean =>
    (this.#plan.fault_tolerance_groups ?? []).some((g) => g.node_ids.includes(node));

  isCritical(node: string): boolean {
    const groups = (this.#plan.fault_tolerance_groups ?? []).filter((g) => g.node_ids.includes(node));
    return groups.length === 0 ? !this.isSync(node) : groups.some((g) => g.fault_tolerance === 0);
  }

  exceeded(failed: ReadonlySet<string>): boolean {
    const groups = this.#plan.fault_tolerance_groups ?? [];
    const inPlan = (id: string): boolean => this.#plan.nodes.some((n) => n.id === id);
    return (
      [...failed].some((node) => this.isCritical(node)) ||
      groups.some((g) => g.node_ids.filter((id) => inPlan(id) && failed.has(id)).length > g.fault_tolerance)
    );
  }

  weight(key: string): bigint {
    const known = this.#weights.get(key);
    if (known !== undefined) return known;
    let sum = 0n;
    for (const to of this.successors.get(key)!) {
      sum += this.weight(to) + (this.tasks.get(to)!.node === this.tasks.get(key)!.node ? 1n : 10n);
    }
    this.#weights.set(key, sum);
    return sum;
  }

  /** Unstarted tasks of the same node with precedence in the choice. */
  betterThan(key: string, started: ReadonlySet<string>): string[] {
    const { node, place } = this.tasks.get(key)!;
    return this.onNode(node).filter((other) => {
      if (other === key || started.has(other)) return false;
      const [w, own] = [this.weight(other), this.weight(key)];
      return w > own || (w === own && this.tasks.get(other)!.place < place);
    });
  }

  /** Tasks that are surely lost when the task fails: those that need it, and those that its node has not started. */
  lostBy(key: string, started: ReadonlySet<string>): Set<string> {
    return this.#withSuccessors([key, ...this.onNode(this.tasks.get(key)!.node).filter((t) => !started.has(t))]);
  }

  /** Tasks that absent nodes have taken before anything fails: a failure cannot take them again. */
  lostByAbsence(): Set<string> {
    return this.#withSuccessors((this.#plan.offline ?? []).flatMap((node) => this.onNode(node)));
  }

  #withSuccessors(open: string[]): Set<string> {
    const lost = new Set<string>();
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (lost.has(at)) continue;
      lost.add(at);
      for (const to of this.successors.get(at)!) if (!this.isSync(this.tasks.get(to)!.node)) open.push(to);
    }
    return lost;
  }

  causes(key: string, statuses: Readonly<Record<string, string>>, offline: readonly string[]): Set<string> {
    const found = new Set<string>();
    const visited = new Set<string>();
    const open = [key];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (visited.has(at)) continue;
      visited.add(at);
      const { node } = this.tasks.get(at)!;
      if (offline.includes(node)) found.add(`offline:${node}`);
      for (const other of this.onNode(node)) if (statuses[other] === 'failed') found.add(other);
      if (this.isSync(node)) continue;
      for (const b of this.predecessors.get(at)!) {
        if (statuses[b] === 'failed') found.add(b);
        else if (statuses[b] === 'blocked') open.push(b);
      }
    }
    return found;
  }
}
