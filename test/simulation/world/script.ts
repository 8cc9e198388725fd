import type { Execution, Random, SimulatedTemporal, VirtualTime } from '../../../src/simulation/temporal/index.ts';
import { RECONCILED_EVERY_MS } from '../../../worker/parts/simulation/installation.ts';
import { CALM, type Weather } from '../../../worker/parts/simulation/world.ts';
import type { CopiedStore } from './copied-store.ts';

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
  /** Names of all parts. */
  readonly parts: string[] = [];
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
  plan(
    kind: 'person' | 'fault' | 'start' | 'restore',
    ms: number,
    happen: (own: Random) => void | Promise<void>,
  ): void {
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const name = `${kind} ${number}`;
    this.parts.push(name);
    if (!this.#without.has(name)) this.#time.after(ms, () => happen(this.#random.fork(name)));
  }

  /**
   * Plans that the store is copied, and later brought back to that copy, while all that uses it is stopped
   * (docs/how-to/back-up.md). Temporal, MAAS and the nodes have gone on.
   */
  planRestore(
    plan: Random,
    latestMs: number,
    { copy, restore }: Pick<CopiedStore, 'copy' | 'restore'>,
    stop: (downMs: number) => void,
  ): void {
    const latest = Math.min(latestMs / 1000, 3_600);
    const copyAt = plan.int(1, latest - 1);
    const restoreAt = plan.int(copyAt + 1, latest);
    this.plan('restore', copyAt * 1000, async (own) => {
      await copy();
      this.#time.after((restoreAt - copyAt) * 1000, async () => {
        this.happens('store restored');
        stop(own.int(1, 120) * 1000);
        await restore();
        this.restoredAt = this.#time.now;
      });
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
