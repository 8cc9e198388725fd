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

/** Permits of a graph, or of a part of one, for the machines of its nodes. Takes them while the scheduler wants any, without holding it up. */
export class GraphPermits {
  waits: readonly PermitWait[] = [];
  /** What ends the run. */
  failure: { readonly error: unknown } | null = null;
  readonly #options: GraphPermitsOptions;
  readonly #back: ReturnedPermits[] = [];
  #wants: readonly number[] = [];
  #asking = false;
  #awaiting = false;
  #isNew = false;

  constructor(options: GraphPermitsOptions) {
    this.#options = options;
  }

  /** The scheduler wants permits for exactly these nodes, and needs others no more. */
  tell(wants: readonly number[], back: ReturnedPermits): void {
    const known = new Set(this.#wants);
    const isNews = wants.some((node) => !known.has(node)) || Object.values(back).some((nodes) => nodes.length > 0);
    this.#wants = wants;
    this.#back.push(back);
    this.#isNew ||= isNews;
    if (isNews && !this.#asking) void this.#ask().catch((error: unknown) => this.#fail(error));
    // Ends a wait that is for nothing.
    this.#options.control.wake();
  }

  /** Resolves when everything was given back. */
  async settled(): Promise<void> {
    this.#wants = [];
    this.#options.control.wake();
    while (this.failure === null && (this.#asking || this.#awaiting)) await this.#options.control.changed();
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
        this.#take(granted, waits);
      }
    } finally {
      this.#asking = false;
    }
    if (this.#wants.length > 0 && !this.#awaiting) await this.#wait();
    this.#options.control.wake();
  }

  async #wait(): Promise<void> {
    this.#awaiting = true;
    try {
      while (this.#wants.length > 0) {
        const answer = await awaitPermits(this.#request(), this.#options.control, () => this.#wants.length === 0);
        if (answer === null) break;
        this.#take(answer.granted, answer.waits);
      }
    } finally {
      this.#awaiting = false;
    }
  }

  #take(granted: readonly string[], waits: readonly PermitWait[]): void {
    const ids = new Set(granted);
    const nodes = this.#options.nodes.flatMap((id, node) => (ids.has(id) ? [node] : []));
    this.#wants = this.#wants.filter((node) => !ids.has(this.#options.nodes[node]!));
    this.waits = this.#wants.length === 0 ? [] : waits;
    if (nodes.length > 0) this.#options.granted(nodes);
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
