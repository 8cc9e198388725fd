import { randomUUID } from 'node:crypto';
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

/** The clock of this process: activities are real, and so is the time that they take. */
class RealTime extends VirtualTime {
  override get now(): number {
    return Date.now();
  }

  override after(ms: number, work: () => void | Promise<void>): () => void {
    // Node.js' timers are shorter than a month.
    const timer = setTimeout(() => void work(), Math.min(Math.max(0, ms), 2 ** 31 - 1));
    timer.unref();
    return () => clearTimeout(timer);
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
