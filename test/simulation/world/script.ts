import type { Execution, Random, SimulatedTemporal, VirtualTime } from '@sitewright/temporal-simulator';
import { RECONCILED_EVERY_MS } from '../../../worker/parts/rehearsals/installation.ts';
import { CALM, type Weather } from '../../../worker/parts/rehearsals/world.ts';
import type { CopiedStore } from './copied-store.ts';

type Kind = 'person' | 'fault' | 'start' | 'restore' | 'goal';

interface Part {
  readonly name: string;
  /** @param about the node of the step that it happens beside */
  readonly happen: (own: Random, about: string | null) => void | Promise<void>;
}

/**
 * What happens to a world from outside: people, faults, and how rough it is. Each part has chance of its own, so that one may be left
 * out and the others stay as they are: a failing seed becomes a short story.
 */
export class Script {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #without: ReadonlySet<string>;
  readonly #state: () => string;
  readonly #counts = new Map<string, number>();
  readonly #beside: (Part & { readonly step: string; readonly ms: number; left: number })[] = [];
  readonly #goals: (Part & { readonly state: string; readonly ms: Random; isReached: boolean })[] = [];
  #isOver = false;
  /** Names of all parts. */
  readonly parts: string[] = [];
  /** When the copy of the store was made. */
  copiedAt: number | null = null;
  /** When the store was last brought back to a copy of before. */
  restoredAt: number | null = null;
  /** How often each happened. */
  readonly actions: Record<string, number> = {};
  /** How often each happened in which state of the run: `state × what`. */
  readonly reached: Record<string, number> = {};

  constructor(time: VirtualTime, random: Random, without: readonly string[], state: () => string) {
    this.#time = time;
    this.#random = random;
    this.#without = new Set(without);
    this.#state = state;
  }

  /** Plans a part: after `ms`. */
  plan(kind: Kind, ms: number, happen: Part['happen']): void {
    const part = this.#part(kind, happen);
    if (part !== null) this.#time.after(ms, () => this.#happen(part, null));
  }

  /** Plans a part: soon after a step of this kind has begun for the `nth` time. What is short is hardly ever met otherwise. */
  planBeside(kind: Kind, step: string, nth: number, ms: number, happen: Part['happen']): void {
    const part = this.#part(kind, happen);
    if (part !== null) this.#beside.push({ ...part, step, left: nth, ms });
  }

  /** A run has begun a step. @param about the name of its node, if it is about one */
  begins(step: string, about: string | null): void {
    for (const part of this.#beside)
      if (part.step === step && --part.left === 0) this.#time.after(part.ms, () => this.#happen(part, about));
    this.#aim(about);
  }

  /** Plans a part: once, soon after a step has begun, when the run is in this state. */
  planIn(state: string, happen: Part['happen']): void {
    const part = this.#part('goal', happen);
    if (part !== null) this.#goals.push({ ...part, state, ms: this.#random.fork(`${part.name} ms`), isReached: false });
  }

  #aim(about: string | null): void {
    for (const goal of this.#goals)
      this.#time.after(goal.ms.int(0, 40), () => {
        if (goal.isReached || this.#state() !== goal.state) return undefined;
        goal.isReached = true;
        return this.#happen(goal, about);
      });
  }

  #part(kind: Kind, happen: Part['happen']): Part | null {
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const name = `${kind} ${number}`;
    this.parts.push(name);
    return this.#without.has(name) ? null : { name, happen };
  }

  #happen({ name, happen }: Part, about: string | null): void | Promise<void> {
    return this.#isOver ? undefined : happen(this.#random.fork(name), about);
  }

  /** Plans that whoever acts does so again soon, as people do. */
  again(who: Random, happen: (own: Random) => void | Promise<void>): void {
    const own = who.fork('again');
    if (!own.chance(0.3)) return;
    const ms = own.int(1, own.pick([20, 120, 1_200])) * 1000;
    this.#time.after(ms, () => (this.#isOver ? undefined : happen(own)));
  }

  /** Nothing happens any more. */
  ends(): void {
    this.#isOver = true;
  }

  /**
   * Plans that the store is copied, and later brought back to that copy, while all that uses it is stopped
   * (docs/how-to/back-up.md). Temporal, MAAS and the nodes have gone on.
   *
   * @param beside plans in the middle of a step, or after a time
   */
  planRestore(
    plan: Random,
    latestMs: number,
    { copy, restore }: Pick<CopiedStore, 'copy' | 'restore'>,
    stop: (downMs: number) => void,
    beside: (kind: 'restore', when: number, happen: Part['happen']) => void,
  ): void {
    const latest = Math.min(latestMs / 1000, plan.pick([120, 900, 3_600]));
    const copyAt = plan.int(1, latest - 1);
    const restoreAt = plan.int(copyAt + 1, latest);
    this.plan('restore', copyAt * 1000, async () => {
      await copy();
      this.copiedAt = this.#time.now;
    });
    beside('restore', restoreAt * 1000, async (own) => {
      if (this.copiedAt === null) return;
      this.happens('store restored');
      stop(own.int(1, 120) * 1000);
      await restore();
      this.restoredAt = this.#time.now;
    });
  }

  /** Whether runs that the store forgot have been found since. */
  get isReconciled(): boolean {
    return this.restoredAt === null || this.#time.now > this.restoredAt + 2 * RECONCILED_EVERY_MS;
  }

  weather(wanted: Weather): Weather {
    const kept = Object.entries(wanted).map(([name, chance]) => {
      if (chance > 0) this.parts.push(`weather ${name}`);
      return [name, this.#without.has(`weather ${name}`) ? 0 : chance];
    });
    return { ...CALM, ...(Object.fromEntries(kept) as Partial<Weather>) };
  }

  /** Notes that something happens now. */
  happens(what: string): void {
    const key = `${this.#state()} × ${what}`;
    this.actions[what] = (this.actions[what] ?? 0) + 1;
    this.reached[key] = (this.reached[key] ?? 0) + 1;
  }
}

/**
 * What has to end yet. Not that which is left of before a reset and that its run did not start again: it waits for someone to terminate
 * it (docs/explain/guarantees.md).
 */
export const stillOpen = (temporal: SimulatedTemporal): Execution[] =>
  temporal.executions.filter(
    ({ status, parent }) =>
      status === 'RUNNING' && (parent === undefined || temporal.find(parent.workflowId, parent.runId).resetTo === null),
  );

/** Its virtual time, which stays below the year 10,000 for every seed. */
export const beginOf = (day: string, seed: number): number => Date.parse(day) + (seed % 200_000_000_000) * 1000;

/** With no faults left, every run ends within this time. */
export const ENDS_WITHIN_MS = 48 * 3_600_000;

export function notEnded(temporal: SimulatedTemporal): string {
  const left = stillOpen(temporal).map(({ workflowId }) => workflowId);
  return `${left.join(', ')} did not end within ${ENDS_WITHIN_MS / 3_600_000} hours after the last fault`;
}

/** Workflow tasks in a row in which only timers ring and are set, within a minute. */
const MOST_IDLE = 20;

/** Which execution, if any, wakes over and over with nothing to do: no history and no server has room for that. */
export function wokenForNothing({ executions }: SimulatedTemporal): string | null {
  for (const { workflowId, turns } of executions) {
    let idle: number[] = [];
    for (const { at, activations } of turns) {
      const jobs = activations.flatMap((one) => one.jobs);
      const isIdle =
        jobs.length > 0 &&
        jobs.every(({ fireTimer }) => fireTimer) &&
        activations.every(({ commands }) => commands.every(({ startTimer, cancelTimer }) => startTimer ?? cancelTimer));
      idle = isIdle ? [...idle.filter((one) => one > at - 60_000), at] : [];
      if (idle.length > MOST_IDLE)
        return `${workflowId} has woken ${idle.length} times within a minute, and had nothing to do`;
    }
  }
  return null;
}

/** In the order in which one of several counts. */
const STEPS = [
  ...['abort', 'look', 'release', 'deploy', 'prepare', 'run_task', 'ping', 'cancel_task'],
  ...['close_run', 'close_graph_run', 'close_graph', 'open_run', 'open_graph_run', 'load_plan', 'plan_graph'],
  ...['verify_site', 'prepare_site', 'record_nodes', 'record_tasks', 'load_graph_part'],
];

/** What the newest open run does now: the step that is open, in it or in a part of it. */
export function stateOf(temporal: SimulatedTemporal, isPaused: (workflowId: string) => boolean): string {
  const isOpen = ({ status }: Execution): boolean => status === 'RUNNING';
  const run = temporal.executions.findLast((one) => isOpen(one) && one.parent === undefined);
  if (run === undefined) return 'no run';
  if (isPaused(run.workflowId)) return 'paused';
  const all = temporal.executions.filter(
    (one) => isOpen(one) && (one === run || one.parent?.workflowId === run.workflowId),
  );
  const open = new Set(
    all.flatMap(({ activities }) =>
      [...activities.values()].flatMap(({ policy }) => [policy.type, policy.activityId.split(':')[0] ?? '']),
    ),
  );
  return STEPS.find((step) => open.has(step)) ?? 'between steps';
}
