import { Context } from '@temporalio/activity';
import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AgentFacts, RunTask, TaskEnd } from '../../activities/graph-contract.ts';
import { agentGone } from '../../activities/node/task.ts';
import type { GraphRunStatus } from '../../src/core/contracts/graph-run.ts';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { eventually } from '../rig/agent-site.ts';
import { recordHistory } from '../rig/histories.ts';
import { failed, ok, type ScriptedGraph, scriptedGraph } from '../rig/scripted-graph.ts';
import { startGraphRun } from '../rig/scripted-graph-run.ts';
import { type RunningWorker, STOPPED_WITHIN_MS, type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const AN_HOUR = 3_600;
const NOON = '2026-11-28T12:00:00.000Z';
const node = (id: string) => ({ id, kind: 'node' as const });

/** On n1 a task that ends at once, on n2 two of this type. */
const planOf = (type: string, more: object = {}): NamedPlan => ({
  nodes: [node('n1'), node('n2')],
  tasks: [
    { id: 'a', node: 'n1', type: 'shell' },
    { id: 'a', node: 'n2', type, ...more },
    { id: 'b', node: 'n2', type },
  ],
  edges: [['a@n2', 'b@n2']],
});

interface Scene {
  readonly graph: ScriptedGraph;
  /** Of n2 alone. */
  readonly queue: string;
  serve(
    activities: { run_task?(): Promise<unknown>; ping?(): Promise<unknown> },
    queue?: string,
  ): Promise<RunningWorker>;
  /** Whether an agent of n2 has taken a task. */
  readonly isTaken: () => boolean;
  /** Resolves at the end of the test. */
  readonly over: Promise<void>;
  readonly run: () => Awaited<ReturnType<typeof startGraphRun>>;
}

interface Wait {
  readonly type?: string;
  readonly task?: object;
  /** The run is not split: what the run does itself, or through one agent. */
  readonly whole?: true;
  readonly hold?: true;
  /** Called before the run starts. */
  prepare?(scene: Scene): Promise<unknown>;
  /** Resolves when the run waits. */
  waits(scene: Scene): Promise<unknown>;
  /** How the first task on n2 ends; undefined: it has no end. */
  readonly end?: Partial<TaskEnd>;
}

/** An agent that answers once. */
async function serveOnce({ serve, queue }: Pick<Scene, 'serve' | 'queue'>): Promise<void> {
  const ping = async () => {
    setImmediate(() => void control.stop());
    return facts;
  };
  const control = await serve({ ping }, `${queue}.ctl`);
}

const facts = { node: 'n2', agent_version: '1', boot_id: 'one', task_types: ['shell'], containment: 'none' };
const answers = (more: Partial<AgentFacts> = {}) => ({ ping: async () => ({ ...facts, ...more }) });
const reaches = ({ run }: Scene, wanted: (status: GraphRunStatus) => boolean) => run().reaches(wanted);
/** Ids and types of the activities that the run and its parts wait for. */
async function pendingOf({ run }: Scene) {
  const { handle } = run();
  const { pendingChildren } = (await handle.describe()).raw;
  const ids = [handle.workflowId, ...(pendingChildren ?? []).map(({ workflowId }) => workflowId!)];
  const pending = await Promise.all(
    ids.map(async (id) => {
      try {
        return (await rig.client.workflow.getHandle(id).describe()).raw.pendingActivities ?? [];
      } catch (error) {
        // The server tells of a child before it finds it.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        return [];
      }
    }),
  );
  return pending.flat();
}
const isSent = async (scene: Scene) => (await pendingOf(scene)).some(({ activityId }) => activityId === 'a@n2');
const isAsked = async (scene: Scene) =>
  (await pendingOf(scene)).some(({ activityType }) => activityType?.name === 'ping') && !(await isSent(scene));

/** From the stop of a run to its end, by its server's clock. */
async function msFromStop(handle: WorkflowHandle): Promise<number> {
  const events = (await handle.fetchHistory()).events!;
  const stop = events.find(({ workflowExecutionSignaledEventAttributes: by }) => by?.signalName === 'stop');
  return tsToMs(events.at(-1)!.eventTime) - tsToMs(stop!.eventTime);
}

/** What a run of graphs waits for, apart from work that runs. Waits for an approval, in a pause, and for a plan have tests beside theirs. */
const WAITS: Readonly<Record<string, Wait>> = {
  'agents that do not answer before the graph': {
    waits: (scene) => eventually(() => isAsked(scene)),
  },
  'an agent that went away before it took a task': {
    async prepare({ serve, queue }) {
      await serveOnce({ serve, queue });
    },
    waits: (scene) => eventually(() => isSent(scene)),
    end: { outcome: 'not_reached' },
  },
  'an agent that is busy with something else': {
    prepare: ({ serve, queue }) => serve(answers({ started: false }), `${queue}.ctl`),
    waits: (scene) => eventually(() => isSent(scene)),
    end: { outcome: 'not_reached' },
  },
  'an agent that went away with a task': {
    async prepare({ serve, queue, over }) {
      const control = await serve(answers(), `${queue}.ctl`);
      const run_task = async () => {
        await control.stop();
        await over;
      };
      await serve({ run_task }, queue);
    },
    waits: (scene) => eventually(() => isSent(scene)),
    end: { outcome: 'lost' },
  },
  'an agent that went away between two tries': {
    async prepare({ serve, queue }) {
      const control = await serve(answers(), `${queue}.ctl`);
      const agent = await serve(
        {
          async run_task() {
            await control.stop();
            setImmediate(() => void agent.stop());
            throw agentGone();
          },
        },
        queue,
      );
    },
    async waits(scene) {
      await eventually(async () =>
        (await pendingOf(scene)).some(({ activityId, attempt }) => activityId === 'a@n2' && attempt! > 1),
      );
    },
    whole: true,
    end: { outcome: 'lost' },
  },
  'an agent that sends no heartbeats and does not answer': {
    async prepare({ serve, queue, over }) {
      const control = await serve(answers(), `${queue}.ctl`);
      const run_task = async () => {
        await control.stop();
        await Promise.race([Context.current().cancelled, over]);
      };
      await serve({ run_task }, queue);
    },
    waits: (scene) => eventually(async () => scene.isTaken() && (await isAsked(scene))),
    end: { outcome: 'lost' },
  },
  'an agent that is asked whether it knows a type': {
    type: 'puppet',
    async prepare({ serve, queue }) {
      await serveOnce({ serve, queue });
    },
    async waits(scene) {
      await scene.graph.until(() => scene.graph.events.some(({ what }) => what === 'end'));
      await eventually(() => isAsked(scene));
    },
    end: { outcome: 'not_reached' },
  },
  'a node to return after its power was cycled': {
    type: 'reboot',
    async prepare({ graph, serve, queue }) {
      graph.powerCycle = () => ok;
      const control = await serve(answers({ task_types: ['shell', 'reboot'] }), `${queue}.ctl`);
      const run_task = async () => {
        await control.stop();
        return { ...failed('its boot id stayed the same'), failure_kind: 'not-rebooted' };
      };
      await serve({ run_task }, queue);
    },
    waits: (scene) => eventually(async () => scene.isTaken() && (await isAsked(scene))),
    end: { outcome: 'lost' },
  },
  'MAAS, over a task': {
    type: 'erase_node',
    async prepare({ graph, serve, queue }) {
      await serve(answers(), `${queue}.ctl`);
      graph.hold.add('a@n2');
      graph.overrides.ask_maas = async () => ({ since: NOON });
    },
    waits: ({ graph }) => graph.heldTask('a@n2'),
    end: { outcome: 'lost', message: expect.stringContaining('12:00 UTC') },
  },
  'MAAS, over the power of a node': {
    type: 'reboot',
    async prepare({ graph, serve, queue, over }) {
      await serve(answers({ task_types: ['shell', 'reboot'] }), `${queue}.ctl`);
      const run_task = async () => ({ ...failed('its boot id stayed the same'), failure_kind: 'not-rebooted' });
      await serve({ run_task }, queue);
      graph.overrides.ask_maas = async () => ({ since: NOON });
      graph.powerCycle = async () => {
        await Promise.race([Context.current().cancelled, over]);
        return ok;
      };
    },
    waits: (scene) =>
      eventually(async () => (await pendingOf(scene)).some(({ activityId }) => activityId === 'a@n2/power')),
    end: { outcome: 'lost', message: expect.stringContaining('12:00 UTC') },
  },
  'the next attempt of a task': {
    task: { retry: { count: 5, interval: AN_HOUR * 1000 } },
    prepare: ({ serve, queue }) =>
      Promise.all([serve(answers(), `${queue}.ctl`), serve({ run_task: async () => failed() }, queue)]),
    waits: ({ graph }) => rig.passUntil(graph.until(() => graph.rows().get('a@n2')?.status === 'retrying')),
    end: { outcome: 'failed' },
  },
  'an operator, over a failed task': {
    hold: true,
    prepare: ({ serve, queue }) =>
      Promise.all([serve(answers(), `${queue}.ctl`), serve({ run_task: async () => failed() }, queue)]),
    waits: (scene) => reaches(scene, ({ phase }) => phase === 'default: held'),
    end: { outcome: 'failed' },
  },
};

describe.each(Object.entries(WAITS))('a run that waits for %s', (name, wait) => {
  const shapes = wait.whole ? ['in one workflow'] : ['in one workflow', 'in parts'];

  it.each(shapes)('ends within ten seconds of a stop, %s', async (shape) => {
    const queue = rig.workflowId('node');
    const graph = scriptedGraph({
      plans: { default: planOf(wait.type ?? 'shell', wait.task) },
      ...(shape === 'in parts' ? { partOf: (id: string) => (id === 'n1' ? 0 : 1) } : {}),
      queueOf: (id) => (id === 'n2' ? queue : undefined),
      controlOf: (id) => (id === 'n2' ? `${queue}.ctl` : undefined),
      timeoutSeconds: AN_HOUR,
      offlineWaitSeconds: AN_HOUR,
      agentHeartbeatSeconds: name.includes('no heartbeats') ? 1 : AN_HOUR,
    });
    let run: Awaited<ReturnType<typeof startGraphRun>> | undefined;
    let taken = 0;
    let leave = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const scene: Scene = {
      graph,
      queue,
      over,
      isTaken: () => taken > 0,
      run: () => run!,
      async serve({ run_task, ...others }, taskQueue = queue) {
        const counted = run_task && {
          run_task: async () => {
            taken += 1;
            return await run_task();
          },
        };
        const worker = await rig.runWorker({
          ...{ taskQueue, activities: { ...others, ...counted }, shutdownGraceTime: 0, shutdownForceTime: '1 second' },
        });
        onTestFinished(() => {
          leave();
          return worker.stop();
        });
        return worker;
      },
    };
    await wait.prepare?.(scene);
    run = await startGraphRun(rig, graph, [{ cluster: 1, ...(wait.hold && { hold_on_failure: true }) }]);
    await wait.waits(scene);
    await run.handle.signal('stop', { by: 'ann' });
    const { result } = await rig.passUntil(run.ended());
    expect(await msFromStop(run.handle)).toBeLessThan(STOPPED_WITHIN_MS);
    const hasFailed = wait.end?.outcome === 'failed';
    if (!hasFailed) expect(result).toMatchObject({ outcome: 'stopped' });
    const { end } = graph.rows().get('a@n2') ?? {};
    if (wait.end === undefined) expect(graph.began).toEqual([]);
    else if (wait.end.outcome === 'not_reached') expect(end?.outcome ?? 'not_reached').toBe('not_reached');
    else expect(end).toMatchObject(wait.end);
    expect(graph.requests.filter(({ node: on, task }: RunTask) => on === 'n2' && task === 'b')).toEqual([]);
    expect(graph.closed).toHaveLength(1);
    if (name === 'agents that do not answer before the graph')
      await recordHistory(run.handle, `execute_graph--stopped-while-agents-are-silent`);
  });
});

it.each(['in one workflow', 'in parts'])('a stop lets MAAS finish the task that it works on, %s', async (shape) => {
  const graph = scriptedGraph({
    plans: { default: planOf('erase_node') },
    ...(shape === 'in parts' ? { partOf: (id: string) => (id === 'n1' ? 0 : 1) } : {}),
    heartbeatSeconds: 1,
  });
  graph.hold.add('a@n2');
  let isAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  graph.overrides.ask_maas = async () => {
    isAsked();
    return { since: null };
  };
  const run = await startGraphRun(rig, graph);
  const task = await graph.heldTask('a@n2');
  await run.handle.signal('stop', { by: 'ann' });
  await asked;
  task.finish();
  expect((await run.ended()).result).toMatchObject({ outcome: 'stopped' });
  expect(graph.rows().get('a@n2')).toMatchObject({ status: 'success' });
  expect(graph.began.filter((one) => one === 'b@n2')).toEqual([]);
});

it('a silence of MAAS that is reported only after a stop ends its tasks, too', async () => {
  const graph = scriptedGraph({ plans: { default: planOf('erase_node') }, timeoutSeconds: AN_HOUR });
  graph.hold.add('a@n2');
  const taskQueue = rig.workflowId('queue');
  // As a worker answers, which keeps no journal.
  const control = await rig.runWorker({
    ...{ taskQueue: `${taskQueue}.ctl`, activities: answers({ started: false }) },
  });
  onTestFinished(() => control.stop());
  const run = await startGraphRun(rig, graph, undefined, taskQueue);
  await graph.heldTask('a@n2');
  await run.handle.signal('stop', { by: 'ann' });
  await run.reaches(({ stopping }) => stopping);
  await run.handle.signal('maas_silence', { since: NOON });
  expect((await run.ended()).result).toMatchObject({ outcome: 'stopped' });
  expect(graph.rows().get('a@n2')?.end).toMatchObject({ outcome: 'lost' });
});
