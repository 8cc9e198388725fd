import type { TakePermits } from '../activities/contract.ts';
import type { PermitWait, ReturnedPermits } from '../src/core/permits/answer.ts';
import type { Control } from './control.ts';
import { awaitPermits, takePermits } from './permits.ts';

interface GraphPermitsOptions {
  readonly base: Pick<TakePermits, 'subject' | 'run_id'>;
  /** Ids of nodes, by their numbers. */
  readonly nodes: readonly string[];
  readonly control: Control;
  /** Numbers of nodes that may be touched. */
  granted(nodes: readonly number[]): void;
}

interface Awaited {
  /** Nodes whose permits were given back while it waits. */
  readonly returned: Set<number>;
}

/** Permits of a graph, or of a part of one, for the machines of its nodes. Takes them while the scheduler wants any, without holding it up. */
export class GraphPermits {
  waits: readonly PermitWait[] = [];
  /** What ends the run. */
  failure: { readonly error: unknown } | null = null;
  readonly #options: GraphPermitsOptions;
  readonly #back: ReturnedPermits[] = [];
  /** Nodes whose permits the scheduler has. */
  readonly #held = new Set<number>();
  #wants: readonly number[] = [];
  #asking = false;
  /** The wait for permits that is under way. */
  #awaited: Awaited | null = null;
  #isNew = false;

  constructor(options: GraphPermitsOptions) {
    this.#options = options;
  }

  /** The scheduler wants permits for exactly these nodes, and needs others no more. */
  tell(wants: readonly number[], back: ReturnedPermits): void {
    const known = new Set(this.#wants);
    this.#wants = wants;
    const isNews = this.#giveBack(back) || wants.some((node) => !known.has(node));
    if (isNews) this.#askAgain();
    // Ends a wait for others.
    this.#options.control.wake();
  }

  /** Resolves when everything was given back. */
  async settled(): Promise<void> {
    this.#wants = [];
    this.#options.control.wake();
    while (this.failure === null && (this.#asking || this.#awaited !== null)) await this.#options.control.changed();
  }

  #giveBack(back: ReturnedPermits): boolean {
    const nodes = Object.values(back).flat();
    for (const node of nodes) {
      this.#held.delete(node);
      this.#awaited?.returned.add(node);
    }
    if (nodes.length > 0) this.#back.push(back);
    return nodes.length > 0;
  }

  #askAgain(): void {
    this.#isNew = true;
    if (!this.#asking) void this.#ask().catch((error: unknown) => this.#fail(error));
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    try {
      while (this.#isNew) {
        this.#isNew = false;
        const back = this.#back.splice(0);
        const request = { ...this.#request(), ...this.#named(back) };
        const { wants, done, failed, unused } = request;
        if (wants.length + done.length + failed.length + unused.length === 0) continue;
        const { granted, waits } = await takePermits(request);
        this.#take(this.#numbered(granted), waits);
      }
    } finally {
      this.#asking = false;
    }
    if (this.#awaited === null) await this.#wait();
    this.#options.control.wake();
  }

  async #wait(): Promise<void> {
    const { control } = this.#options;
    try {
      while (this.#wants.length > 0 && !control.stopping && !control.cancelled) {
        if (control.paused) {
          await control.changed();
          continue;
        }
        const asked = new Set(this.#wants);
        const returned = new Set<number>();
        this.#awaited = { returned };
        const isForOthers = () => this.#wants.length === 0 || this.#wants.some((node) => !asked.has(node));
        const answer = await awaitPermits(this.#request(), control, isForOthers);
        if (answer !== null) this.#take(this.#numbered(answer.granted), answer.waits, returned);
      }
    } finally {
      this.#awaited = null;
    }
  }

  /**
   * What was granted to a wait that has been overtaken goes back: for nodes that are wanted no more, or whose permits were given back
   * meanwhile, which may have been before or after they were granted.
   */
  #take(granted: readonly number[], waits: readonly PermitWait[], overtaken: ReadonlySet<number> = new Set()): void {
    const wanted = new Set(this.#wants);
    const taken = granted.filter((node) => wanted.has(node) && !overtaken.has(node));
    for (const node of taken) this.#held.add(node);
    const unused = granted.filter((node) => !this.#held.has(node));
    this.#wants = this.#wants.filter((node) => !this.#held.has(node));
    this.waits = this.#wants.length === 0 ? [] : waits;
    if (taken.length > 0) this.#options.granted(taken);
    if (this.#giveBack({ done: [], failed: [], unused })) this.#askAgain();
    this.#options.control.wake();
  }

  #numbered(granted: readonly string[]): number[] {
    const ids = new Set(granted);
    return this.#options.nodes.flatMap((id, node) => (ids.has(id) ? [node] : []));
  }

  #request(): TakePermits {
    const { base, nodes } = this.#options;
    return { ...base, work: 'tasks', wants: this.#wants.map((node) => nodes[node]!) };
  }

  #named(back: readonly ReturnedPermits[]) {
    const ids = (kind: keyof ReturnedPermits) =>
      back.flatMap((one) => one[kind].map((node) => this.#options.nodes[node]!));
    return { done: ids('done'), failed: ids('failed'), unused: ids('unused') };
  }

  #fail(error: unknown): void {
    this.failure ??= { error };
    this.#options.control.wake();
  }
}
