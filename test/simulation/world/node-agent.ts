import { ApplicationFailure, Context } from '@temporalio/activity';
import type { AgentFacts, RunTask, TaskEnd } from '../../../activities/graph-contract.ts';
import { agentGone } from '../../../activities/node-task.ts';
import { held } from '../../../activities/run-holds.ts';
import { OrderWithdrawn, RunHeld } from '../../../src/agent/index.ts';
import { type AnyActivity, type Host, type Random, Worker } from '../../../src/simulation/temporal/index.ts';
import { lookupsOf, type Observer } from '../../../worker/parts/simulation/installation.ts';
import { storePort } from '../../../worker/parts/simulation/store-port.ts';
import { caller, pause, type World } from '../../../worker/parts/simulation/world.ts';
import { startGate } from '../../../worker/parts/start-gate.ts';
import { controlQueue, nodeQueue } from '../../../workflows/protocol.ts';

/** What the nodes know of tasks that orders would tell them. */
interface TaskModel {
  fails(task: string): boolean;
  /** In seconds. */
  limit(task: string): number;
}

interface Entry {
  /** When the task's effect began. */
  readonly startedAt: number;
  end: TaskEnd | null;
}

/**
 * A node with its agent, as a model of its answers: the journal survives agents, a supervisor goes on with a task while no agent
 * follows it, and a task starts only when the real gate lets it.
 */
export class SimulatedNode {
  readonly #world: World;
  readonly #observer: Pick<Observer, 'askedHold' | 'store'>;
  readonly #random: Random;
  readonly #site: string;
  readonly name: string;
  /** By run, task and generation: on the node's disk. */
  readonly journal = new Map<string, Entry>();
  readonly #tasks: TaskModel;
  agent: Worker | null = null;
  #started = 0;

  constructor(
    world: World,
    observer: Pick<Observer, 'askedHold' | 'store'>,
    site: string,
    name: string,
    tasks: TaskModel,
  ) {
    this.#world = world;
    this.#observer = observer;
    this.#random = world.random.fork(`node ${name}`);
    this.#site = site;
    this.name = name;
    this.#tasks = tasks;
  }

  startAgent(): void {
    if (this.agent?.host.alive) return;
    const world = this.#world;
    const host: Host = { name: `agent ${this.name} ${++this.#started}`, alive: true, stalledUntil: 0 };
    const queue = nodeQueue(this.#site, this.name);
    this.agent = world.time.hosts.run(host, () => {
      const gate = startGate(storePort(world, this.#observer.store), lookupsOf(world, this.#observer));
      const run = { run_task: (request: RunTask) => this.#runTask(request, gate.mayStart) } as unknown;
      const control = {
        ping: (request: { attempt?: RunTask }) => this.#ping(request),
        cancel_task: async () => undefined,
      };
      return new Worker({
        host,
        time: world.time,
        activities: {
          [queue]: run as Record<string, AnyActivity>,
          [controlQueue(queue)]: control as unknown as Record<string, AnyActivity>,
        },
        latency: () => this.#random.int(1, 30),
      });
    });
    world.temporal.join(this.agent);
    world.tell(`${host.name} starts`);
  }

  killAgent(downMs: number): void {
    if (!this.agent?.host.alive) return;
    this.#world.tell(`${this.agent.host.name} is killed`);
    this.agent.kill();
    this.#world.time.after(downMs, () => this.startAgent());
  }

  async #ping({ attempt }: { attempt?: RunTask }): Promise<AgentFacts> {
    await pause(this.#random.int(1, 10));
    const started = attempt === undefined ? {} : { started: this.journal.has(keyOf(attempt)) };
    return {
      node: this.name,
      agent_version: '1.0.0',
      boot_id: `boot-${this.name}`,
      task_types: ['shell'],
      containment: 'none',
      ...started,
    };
  }

  async #runTask(request: RunTask, mayStart: (run: string) => Promise<void>): Promise<TaskEnd> {
    const { time } = this.#world;
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat({ gen: request.generation }), 10_000);
    try {
      const key = keyOf(request);
      if (!this.journal.has(key)) {
        try {
          await mayStart(request.run);
        } catch (error) {
          if (error instanceof RunHeld) throw held(error.message);
          if (error instanceof OrderWithdrawn) return { outcome: 'not_reached', message: error.message };
          throw ApplicationFailure.create({ message: (error as Error).message, type: 'AgentCannot' });
        }
        this.#begin(key, request);
      }
      const entry = this.journal.get(key)!;
      while (entry.end === null) {
        if (context.cancellationSignal.aborted) {
          // An agent that leaves leaves the task to its supervisor.
          if (context.cancellationDetails?.cancelRequested !== true) throw agentGone();
          entry.end ??= { outcome: 'cancelled', message: 'an operator cancelled it' };
        }
        await pause(this.#random.int(200, 2_000));
      }
      return {
        ...entry.end,
        started_at: new Date(entry.startedAt).toISOString(),
        ended_at: new Date(time.now).toISOString(),
      };
    } finally {
      clearInterval(beat);
    }
  }

  /** The effect of the task: once for each generation. */
  #begin(key: string, { task, generation, run }: RunTask): void {
    const { time } = this.#world;
    this.#world.tell(`${this.name} starts ${task} (generation ${generation}, run ${run})`);
    this.started(caller(), task);
    const entry: Entry = { startedAt: time.now, end: null };
    this.journal.set(key, entry);
    const fails = this.#tasks.fails(task);
    const limit = this.#tasks.limit(task);
    const takes = this.#random.chance(0.1) ? this.#random.int(60, 4_000) : this.#random.int(1, 50);
    const isLate = takes > limit;
    // The supervisor lives on when the agent dies.
    time.hosts.exit(() =>
      time.after(Math.min(takes, limit) * 1000, () => {
        entry.end ??= isLate
          ? { outcome: 'failed', message: `it took longer than ${limit} s` }
          : fails
            ? { outcome: 'failed', message: 'exit 1', exit_code: 1 }
            : { outcome: 'success', changed: true };
        this.#world.tell(`${this.name} ${entry.end.outcome} ${task}`);
      }),
    );
  }

  started: (by: ReturnType<typeof caller>, task: string) => void = () => undefined;
}

const keyOf = ({ run, task, generation }: Pick<RunTask, 'run' | 'task' | 'generation'>): string =>
  `${run} ${task} ${generation}`;
