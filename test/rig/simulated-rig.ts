import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AnyActivity,
  loadWorkflows,
  Random,
  SimulatedTemporal,
  VirtualTime,
  Worker,
  type WorkflowCode,
} from '@sitewright/temporal-simulator';
import { Client, type Connection } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { inject } from 'vitest';
import { ACTIVITIES } from '../../workflows/protocol.ts';
import { simulatedConnection } from './simulated-frontend.ts';
import { NOT_SHOWN, type RunningWorker, type TemporalRig, withSideQueues } from './temporal.ts';

interface Event {
  readonly at: number;
  readonly work: () => void;
  timer?: NodeJS.Timeout;
}

/** In real time, a moment in which nothing happened: all that is left waits for the clock. */
const IDLE_MS = 30;

/** The clock of this process: activities are real, and so is the time that they take, unless a test lets it pass. */
class RealTime extends VirtualTime {
  #passed = 0;
  #happened = 0;
  readonly #waiting = new Set<Event>();

  override get now(): number {
    return Date.now() + this.#passed;
  }

  override after(ms: number, work: () => void | Promise<void>): () => void {
    const event: Event = {
      at: this.now + Math.max(0, ms),
      work: () => {
        this.#waiting.delete(event);
        this.#happened++;
        void work();
      },
    };
    this.#waiting.add(event);
    this.#arm(event);
    return () => {
      clearTimeout(event.timer);
      this.#waiting.delete(event);
    };
  }

  #arm(event: Event): void {
    clearTimeout(event.timer);
    // Node.js' timers are shorter than a month.
    event.timer = setTimeout(event.work, Math.min(Math.max(0, event.at - this.now), 2 ** 31 - 1));
    event.timer.unref();
  }

  /** Until `end` is settled, the time until the next event passes at once where nothing else happens. */
  async passUntil<T>(end: Promise<T>): Promise<T> {
    const settled = end.then(
      () => true,
      () => true,
    );
    for (;;) {
      const before = this.#happened;
      if (await Promise.race([settled, delay(IDLE_MS, false)])) return end;
      if (this.#happened === before) this.#passToNext();
    }
  }

  #passToNext(): void {
    const next = Math.min(...[...this.#waiting].map(({ at }) => at));
    if (!Number.isFinite(next)) return;
    this.#passed += Math.max(0, next - this.now);
    for (const event of this.#waiting) this.#arm(event);
  }
}

/** Every delay is its shortest: what takes its time elsewhere only costs time here. */
class Prompt extends Random {
  override int(from: number): number {
    return from;
  }
}

/** Workflow code by its bundle, loaded once in a process. */
const loaded = new Map<string, Promise<WorkflowCode>>();

function codeOf(path: string): Promise<WorkflowCode> {
  let code = loaded.get(path);
  if (code === undefined) loaded.set(path, (code = loadWorkflows(path, Object.keys(ACTIVITIES))));
  return code;
}

/** The rig of `temporalRig`, on a server that is simulated in this process. */
export function simulatedRig(): TemporalRig {
  const time = new RealTime(0);
  const tag = randomUUID().slice(0, 8);
  const temporal = new SimulatedTemporal({ time, random: new Prompt(tag) });
  const connection = simulatedConnection(temporal) as Connection;
  const taskQueue = `test-${tag}`;
  const running = new Set<RunningWorker>();
  return {
    address: 'simulated',
    namespace: 'default',
    client: new Client({ connection, namespace: 'default' }),
    connection,
    connect: () => simulatedConnection(temporal) as Connection,
    passUntil: (end) => time.passUntil(end),
    taskQueue,
    workflowId: (purpose) => `${purpose}-${tag}-${randomUUID().slice(0, 8)}`,
    runWorker: async (options = {}) => {
      const workers = await Promise.all(
        withSideQueues({ taskQueue, workflowBundle: { codePath: inject('workflowBundlePath') }, ...options }).map(
          (each) => started(temporal, time, each),
        ),
      );
      const one: RunningWorker = {
        taskQueue: options.taskQueue ?? taskQueue,
        stop: async () => {
          if (!running.delete(one)) return;
          for (const worker of workers) worker.shutDown();
          // An activity that stops its own worker as it begins is among those that run only now.
          await Promise.resolve();
          await Promise.all(workers.flatMap((worker) => [...worker.running].map(({ end }) => end)));
          // Their last words reach the server.
          await time.sleep(5);
          for (const worker of workers) temporal.leave(worker);
        },
      };
      running.add(one);
      return one;
    },
    close: async () => {
      await Promise.all([...running].map((worker) => worker.stop()));
    },
  };
}

async function started(
  temporal: SimulatedTemporal,
  time: VirtualTime,
  options: Partial<WorkerOptions> & { readonly taskQueue: string },
): Promise<Worker> {
  const { taskQueue, activities = {}, workflowBundle, maxConcurrentActivityTaskExecutions: slots } = options;
  const code = workflowBundle && 'codePath' in workflowBundle ? await codeOf(workflowBundle.codePath) : undefined;
  const worker = new Worker({
    host: { name: taskQueue, alive: true, stalledUntil: 0 },
    time,
    ...(code === undefined ? {} : { code, workflowQueues: [taskQueue] }),
    activities: { [taskQueue]: activities as Record<string, AnyActivity> },
    interceptors: options.interceptors?.activity ?? [],
    sinks: { ...NOT_SHOWN, ...options.sinks } as never,
    ...(slots === undefined ? {} : { slots: { [taskQueue]: slots } }),
    latency: () => 1,
  });
  temporal.join(worker);
  return worker;
}
