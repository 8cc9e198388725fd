import type { TakePermits } from '../../activities/contract.ts';
import type { PermitAnswer, PermitWait, ReturnedPermits } from '../../src/core/permits/answer.ts';
import type { Control } from '../run/control.ts';
import { awaitPermits, takePermits } from '../run/permits.ts';

interface GraphPermitsOptions {
  readonly base: Pick<TakePermits, 'subject' | 'run_id' | 'overrides'>;
  /** Ids of nodes, by their numbers. */
  readonly nodes: readonly string[];
  readonly control: Control;
  /** Numbers of nodes that may be touched. */
  granted(nodes: readonly number[]): void;
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
  /** Nodes whose permits were given back during the wait that is under way; null: none is. */
  #returned: Set<number> | null = null;
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
    while (this.failure === null && (this.#asking || this.#returned !== null)) await this.#options.control.changed();
  }

  #giveBack(back: ReturnedPermits): boolean {
    const nodes = Object.values(back).flat();
    for (const node of nodes) {
      this.#held.delete(node);
      this.#returned?.add(node);
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
        this.#take(await takePermits(request));
      }
    } finally {
      this.#asking = false;
    }
    if (this.#returned === null) await this.#wait();
    this.#options.control.wake();
  }

  async #wait(): Promise<void> {
    const { control } = this.#options;
    const returned = new Set<number>();
    this.#returned = returned;
    try {
      while (this.#wants.length > 0 && !control.stopping && !control.cancelled) {
        if (control.paused) {
          await control.changed();
          continue;
        }
        const asked = new Set(this.#wants);
        returned.clear();
        const isForOthers = () => this.#wants.length === 0 || this.#wants.some((node) => !asked.has(node));
        const answer = await awaitPermits(this.#request(), control, isForOthers);
        if (answer !== null) this.#take(answer, returned);
      }
    } finally {
      this.#returned = null;
    }
  }

  /**
   * What was granted to a wait that has been overtaken goes back: for nodes that are wanted no more, or whose permits were given back
   * meanwhile, which may have been before or after they were granted.
   */
  #take({ granted, waits }: PermitAnswer, overtaken?: ReadonlySet<number>): void {
    const ids = new Set(granted);
    const nodes = this.#options.nodes.flatMap((id, node) => (ids.has(id) ? [node] : []));
    const wanted = new Set(this.#wants);
    const taken = nodes.filter((node) => wanted.has(node) && !overtaken?.has(node));
    for (const node of taken) this.#held.add(node);
    const unused = nodes.filter((node) => !this.#held.has(node));
    this.#wants = this.#wants.filter((node) => !this.#held.has(node));
    this.waits = this.#wants.length === 0 ? [] : waits;
    if (taken.length > 0) this.#options.granted(taken);
    if (this.#giveBack({ done: [], failed: [], unused })) this.#askAgain();
    this.#options.control.wake();
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
