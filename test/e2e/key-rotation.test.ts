import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addEncryptionKey, readEncryptionKeys } from '../../src/platform/codec/encryption-keys.ts';
import { encryptionOf } from '../../worker/parts/encryption.ts';
import { bundleOurWorkflows } from '../../worker/parts/workflow-bundle.ts';
import { random } from '../rig/random.ts';
import { scriptedGraph } from '../rig/scripted-graph.ts';
import { ACTIVITIES_ALONE, type RunningWorker, type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
const folder = mkdtempSync(join(tmpdir(), 'sitewright-rotation-'));
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Each machine has its own copy of the file of keys. */
const MACHINES = ['worker', 'agents', 'api'] as const;
const keysOf = (machine: string): string => join(folder, machine, 'keys');
/** ROTATIONS=20 for a campaign. */
const ROTATIONS = Number(process.env.ROTATIONS ?? 2);

/** The ids of the keys that a history was encrypted with. */
async function keysIn(handle: WorkflowHandle): Promise<string[]> {
  const { History } = temporal.api.history.v1;
  const bytes = Buffer.from(History.encode(await handle.fetchHistory()).finish()).toString('latin1');
  return [...new Set(readEncryptionKeys(keysOf('worker')).keys.keys())].filter((id) => bytes.includes(id));
}

it('keys are rotated while runs start and end: no run fails, all data stays readable, and the former key can be deleted afterwards', async () => {
  for (const machine of MACHINES) mkdirSync(join(folder, machine), { mode: 0o700 });
  const copied = (): void => {
    for (const machine of MACHINES.slice(1)) copyFileSync(keysOf('worker'), keysOf(machine));
  };
  addEncryptionKey(keysOf('worker'));
  copied();

  const { codePath } = await bundleOurWorkflows({ encrypted: true });
  const [taskQueue, nodes] = [rig.workflowId('queue'), rig.workflowId('nodes')];
  const ids = ['n0', 'n1', 'n2'];
  const graph = scriptedGraph({
    plans: {
      default: {
        nodes: ids.map((id) => ({ id, kind: 'node' })),
        tasks: ids.flatMap((node) => ['t0', 't1'].map((id) => ({ id, node, type: 'shell' }))),
        edges: ids.map((node) => [`t0@${node}`, `t1@${node}`] as const),
      },
    },
    queueOf: () => nodes,
    controlOf: () => nodes,
  });
  const dataOf = (machine: string) => encryptionOf({ temporal: { encryption_key_file: keysOf(machine) } });
  let client: Client;
  const running = new Map<string, RunningWorker>();
  const restarted = async (machine: (typeof MACHINES)[number]): Promise<void> => {
    const data = dataOf(machine);
    if (machine === 'api') {
      client = new Client({ connection: rig.connection, namespace: rig.namespace, ...data });
      return;
    }
    await running.get(machine)?.stop();
    running.set(
      machine,
      await rig.runWorker(
        machine === 'worker'
          ? { taskQueue, activities: graph.activities(taskQueue), workflowBundle: { codePath }, ...data }
          : { ...ACTIVITIES_ALONE, taskQueue: nodes, activities: graph.activities(nodes), ...data },
      ),
    );
  };
  for (const machine of MACHINES) await restarted(machine);

  const runs: string[] = [];
  const ends: Promise<unknown>[] = [];
  const start = async (): Promise<void> => {
    const workflowId = rig.workflowId('execute_graph');
    const by = client;
    const handle = await by.workflow.start('execute_graph', { taskQueue, workflowId, args: [{ cluster: 1 }] });
    runs.push(workflowId);
    ends.push(
      handle.result().then(
        ({ outcome }) => `${workflowId} ${outcome}`,
        (error: unknown) => `${workflowId} ${error}: ${(error as Error).cause}`,
      ),
    );
  };
  await start();
  await ends[0];
  let isLoaded = true;
  const load = (async () => {
    while (isLoaded) {
      await start();
      await delay(60);
    }
  })();

  let broken: unknown;
  load.catch((error: unknown) => {
    broken = error;
  });
  /** This many more runs have begun. */
  const more = async (count: number): Promise<void> => {
    for (const from = runs.length; runs.length < from + count; await delay(20)) if (broken !== undefined) throw broken;
  };

  const chance = random(32);
  for (let rotation = 0; rotation < ROTATIONS; rotation++) {
    addEncryptionKey(keysOf('worker'));
    copied();
    const order = [...MACHINES].sort(() => chance() - 0.5);
    for (const machine of order) {
      await restarted(machine);
      await more(1 + Math.floor(4 * chance()));
    }
  }
  const before = runs.length;
  await more(5);
  isLoaded = false;
  await load;
  const said = await Promise.all(ends);
  expect(said).toEqual(runs.map((id) => `${id} success`));

  // The holder of the newest file reads all of them, and the newest key alone reads those after the last restart.
  const { current, keys } = readEncryptionKeys(keysOf('worker'));
  expect(keys.size).toBe(ROTATIONS + 1);
  const used = new Set<string>();
  for (const id of runs) {
    await expect(client!.workflow.getHandle(id).result()).resolves.toMatchObject({ outcome: 'success' });
    await expect(client!.workflow.getHandle(id).query('status')).resolves.toMatchObject({ outcome: 'success' });
    for (const key of await keysIn(client!.workflow.getHandle(id))) used.add(key);
  }
  expect([...used].sort()).toEqual([...keys.keys()].sort());
  const last = runs.slice(before + 1);
  expect(last.length).toBeGreaterThan(2);
  for (const id of last) expect(await keysIn(client!.workflow.getHandle(id))).toEqual([current]);

  // Without the former keys.
  const [newest] = readFileSync(keysOf('worker'), 'utf8').split('\n');
  for (const machine of MACHINES) {
    writeFileSync(keysOf(machine), `${newest}\n`, { mode: 0o600 });
    await restarted(machine);
  }
  await start();
  expect(await ends.at(-1)).toBe(`${runs.at(-1)} success`);
  for (const id of last)
    await expect(client!.workflow.getHandle(id).result()).resolves.toMatchObject({ outcome: 'success' });
  await expect(client!.workflow.getHandle(runs[0]!).result()).rejects.toThrow();
  for (const worker of running.values()) await worker.stop();
});
