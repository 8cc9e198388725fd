import type { Host, Random, SimulatedTemporal, VirtualTime } from '@sitewright/temporal-simulator';
import { Context } from '@temporalio/activity';
import type { Store } from '../../../src/store/index.ts';

/** What must never happen has happened. */
export class Violation extends Error {}

/** How rough the world is. Each is a probability of one call, or 0. */
export interface Weather {
  /** A worker dies before, or after, it answers a workflow task. */
  readonly turnLost: number;
  readonly cacheLost: number;
  readonly turnLate: number;
  readonly storeFails: number;
  /** The change was made, and the answer is lost. */
  readonly storeLosesAnswers: number;
  readonly maasFails: number;
  readonly maasLosesAnswers: number;
  /** The connection is lost, and the request still arrives, within the time that the client leaves it for that. */
  readonly maasLate: number;
  readonly temporalFails: number;
}

export const CALM: Weather = {
  turnLost: 0,
  cacheLost: 0,
  turnLate: 0,
  storeFails: 0,
  storeLosesAnswers: 0,
  maasFails: 0,
  maasLosesAnswers: 0,
  maasLate: 0,
  temporalFails: 0,
};

/** A dependency that is unreachable for a while. */
export class Outages {
  readonly #until = new Map<string, number>();
  readonly #time: VirtualTime;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  begin(what: string, ms: number): void {
    this.#until.set(what, Math.max(this.#until.get(what) ?? 0, this.#time.now + ms));
  }

  has(what: string): boolean {
    return (this.#until.get(what) ?? 0) > this.#time.now;
  }

  /** Ms until it is over. */
  left(what: string): number {
    return Math.max(0, (this.#until.get(what) ?? 0) - this.#time.now);
  }

  endAll(): void {
    this.#until.clear();
  }
}

/** State that all parts of one simulated installation share. */
export interface World {
  readonly seed: number;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly temporal: SimulatedTemporal;
  readonly store: Store;
  readonly outages: Outages;
  /** Changes when the faults stop. */
  weather: Weather;
  readonly story: string[];
  tell(line: string): void;
  violated(what: string): void;
  violation: string | null;
}

/** The activity whose code runs now, if any. */
export function caller(): {
  workflowId: string;
  runId: string;
  activity: string;
  attempt: number;
  type: string;
} | null {
  let context: Context;
  try {
    context = Context.current();
  } catch {
    return null;
  }
  const { workflowExecution, activityId, attempt, activityType } = context.info;
  return { ...workflowExecution!, activity: activityId, attempt, type: activityType };
}

/** Waits as code of the current process: for ever, if that dies meanwhile. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const asProcess = <T>(time: VirtualTime, host: Host, work: () => T): T => time.hosts.run(host, work);
