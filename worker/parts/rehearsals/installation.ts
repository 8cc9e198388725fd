import type { MachineContext } from '@sitewright/maas';
import type { ServedRegion } from '@sitewright/maas-simulator';
import {
  type AnyActivity,
  deferred,
  type Host,
  NotFound,
  Worker,
  type WorkflowCode,
} from '@sitewright/temporal-simulator';
import { type ActivityDependencies, createActivities, SilenceReports } from '../../../activities/index.ts';
import { plainFailures } from '../../../activities/plain-failures.ts';
import { plannerHere } from '../../../src/clusters/planning/index.ts';
import { closedOutcome } from '../../../src/runs/find-execution.ts';
import { startReconciler } from '../../../src/runs/reconciler.ts';
import type { RunLookups } from '../../../src/runs/run-lookups.ts';
import { ACTIVITIES, SEARCH_ATTRIBUTES, sideQueue } from '../../../workflows/protocol.ts';
import { type MaasPace, type MaasRequest, maasPort } from './maas-port.ts';
import { type StoreSpy, storePort } from './store-port.ts';
import { caller, pause, type World } from './world.ts';

export const QUEUE = 'sitewright';

export const RECONCILED_EVERY_MS = 600_000;

/** What the checks listen to. */
export interface Observer {
  readonly store: StoreSpy;
  beforeMaasChange(by: ReturnType<typeof caller>, method: string, path: string, body: string): void;
  /** It arrives at MAAS: at once, or later than its sender has given up. */
  atMaasChange?(by: ReturnType<typeof caller>, method: string, path: string, body: string): void;
  afterMaasChange(request: MaasRequest): void;
  /**
   * An activity asks whether its run may start something.
   *
   * @returns called with the answer: people may act between the two
   */
  askedHold(by: ReturnType<typeof caller>, workflowId: string, runId: string | null): () => void;
  /** An activity is about to be told which execution a run has. */
  askedExecution?(workflowId: string, runId: string | null): void;
}

/** The facts of Temporal as a process gets them: over a network that takes its time and fails. */
export function lookupsOf(world: World, observer: Pick<Observer, 'askedHold' | 'askedExecution'>): RunLookups {
  const random = world.random.fork('lookups');
  const { temporal } = world;
  const asked = async <T>(work: () => Promise<T> | T): Promise<T> => {
    await pause(random.int(1, 8));
    if (world.outages.has('temporal') || random.chance(world.weather.temporalFails))
      throw new Error('14 UNAVAILABLE: simulated');
    const answer = await work();
    await pause(random.int(1, 8));
    return answer;
  };
  const found = (workflowId: string, runId: string | null) => {
    try {
      return temporal.current(temporal.find(workflowId, runId));
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  };
  return {
    execution: (workflowId, runId) =>
      asked(() => {
        observer.askedExecution?.(workflowId, runId);
        const execution = found(workflowId, runId);
        if (execution === null) return null;
        const children = [...execution.children.values()].map((child) => ({
          workflowId: child.workflowId,
          runId: child.runId ?? '',
        }));
        const errors = Object.fromEntries(
          [...execution.activities.values()].flatMap(({ policy, lastFailure }) =>
            lastFailure ? [[policy.activityId, lastFailure.message ?? '']] : [],
          ),
        );
        return { runId: execution.runId, isOpen: execution.status === 'RUNNING', children, errors };
      }),
    tried: (workflowId, runId) =>
      asked(() =>
        [...(found(workflowId, runId)?.activities.values() ?? [])].flatMap(({ policy, isStarted, attempt }) =>
          isStarted || attempt > 1 ? [policy.activityId] : [],
        ),
      ),
    end: (workflowId, runId) =>
      asked(() => {
        const execution = found(workflowId, runId);
        if (execution === null)
          return { outcome: 'lost', at: new Date(), reason: 'Temporal has no record of this run any more' };
        if (execution.status === 'RUNNING') return null;
        const reason = execution.failure?.message;
        return {
          outcome: closedOutcome(execution.status, execution.result),
          at: new Date(execution.closedAt ?? 0),
          isChild: execution.parent !== undefined,
          ...(reason === undefined ? {} : { reason }),
        };
      }),
    hold: (workflowId, runId) => {
      const by = caller();
      return asked(async () => {
        const answered = observer.askedHold(by, workflowId, runId);
        const execution = temporal.find(workflowId, runId);
        const limit = deferred<never>();
        const timer = setTimeout(() => limit.reject(new Error('4 DEADLINE_EXCEEDED: simulated')), 10_000);
        try {
          const answer = (await Promise.race([temporal.query(execution, 'status'), limit.promise])) as Awaited<
            ReturnType<RunLookups['hold']>
          >;
          answered();
          // As `holdLookup` of a real server.
          if (execution.status !== 'RUNNING') throw new Error('its workflow has ended');
          return { paused: answer.paused, stopping: answer.stopping };
        } finally {
          clearTimeout(timer);
        }
      });
    },
  };
}

/** Starts, kills and stalls the worker processes of an installation. */
export class Installation {
  readonly #world: World;
  readonly #region: ServedRegion;
  readonly #code: WorkflowCode;
  readonly #observer: Observer;
  readonly #settings: ActivityDependencies['settings'];
  readonly #more: Partial<ActivityDependencies>;
  readonly #pace: MaasPace | undefined;
  #started = 0;
  workers: Worker[] = [];

  constructor(
    world: World,
    region: ServedRegion,
    code: WorkflowCode,
    observer: Observer,
    settings: ActivityDependencies['settings'],
    more: Partial<ActivityDependencies> = {},
    pace?: MaasPace,
  ) {
    this.#pace = pace;
    this.#world = world;
    this.#region = region;
    this.#code = code;
    this.#observer = observer;
    this.#settings = settings;
    this.#more = more;
  }

  /** A new process of the orchestrator. */
  startWorker(): Worker {
    const world = this.#world;
    const { time, temporal, random } = world;
    const host: Host = { name: `worker${++this.#started}`, alive: true, stalledUntil: 0 };
    const worker = time.hosts.run(host, () => {
      const observer = this.#observer;
      const told = {
        sent: (...request: [method: string, path: string, body: string]) =>
          observer.beforeMaasChange(caller(), ...request),
        arrives: (...request: [method: string, path: string, body: string]) =>
          observer.atMaasChange?.(caller(), ...request),
        answered: (request: MaasRequest) => observer.afterMaasChange(request),
      };
      const maas: MachineContext = maasPort(world, this.#region, told, this.#pace);
      const deps: ActivityDependencies = {
        store: storePort(world, observer.store),
        maas: () => maas,
        ...lookupsOf(world, observer),
        searchAttributes: async () => Object.keys(SEARCH_ATTRIBUTES),
        silence: new SilenceReports({
          pulse: () => maas.client,
          send: async ({ workflowId, runId }, silence) => {
            await pause(random.int(1, 10));
            temporal.signal(temporal.find(workflowId, runId), 'maas_silence', [silence]);
          },
        }),
        planner: plannerHere(),
        settings: this.#settings,
        ...this.#more,
      };
      // Until the process dies; much less often than a real one, which would look thousands of times.
      const ask = (workflowId: string) => temporal.query(temporal.find(workflowId, null), 'status');
      const missed = async (workflowId: string, child: string) =>
        temporal.signal(temporal.find(workflowId, null), 'child_gone', [{ id: child }]);
      startReconciler({ ...deps, ask, missed }, { everyMs: RECONCILED_EVERY_MS });
      const activities = createActivities(deps) as unknown as Record<string, AnyActivity>;
      return new Worker({
        host,
        time,
        code: this.#code,
        workflowQueues: [QUEUE, sideQueue(QUEUE, 'parts')],
        activities: {
          [QUEUE]: activities,
          [sideQueue(QUEUE, 'machines')]: activities,
          [sideQueue(QUEUE, 'parts')]: activities,
        },
        interceptors: [plainFailures],
        latency: () => random.int(1, 12),
      });
    });
    this.workers = [...this.workers.filter((one) => one.host.alive), worker];
    temporal.join(worker);
    world.tell(`${host.name} starts`);
    return worker;
  }

  /** A process ends from one moment to the next; another takes its place later. */
  kill(worker: Worker, downMs: number): void {
    if (!worker.host.alive) return;
    this.#world.tell(`${worker.host.name} is killed`);
    worker.kill();
    this.workers = this.workers.filter((one) => one !== worker);
    this.#world.time.after(downMs, () => void this.startWorker());
  }

  /** A process does nothing for a while, and then goes on as if nothing had been. */
  stall(worker: Worker, ms: number): void {
    if (!worker.host.alive) return;
    this.#world.tell(`${worker.host.name} stalls for ${Math.round(ms / 1000)} s`);
    worker.host.stalledUntil = this.#world.time.now + ms;
    this.#world.time.after(ms, () => this.#world.temporal.join(worker));
  }
}

export const ACTIVITY_NAMES = Object.keys(ACTIVITIES);
