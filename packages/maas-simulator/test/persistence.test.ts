import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MachineStatus as S } from '@sitewright/maas/status';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simulateMaas, simulatorKeys } from '../src/index.ts';
import { authorization, SimulatedMaas } from './simulated-maas.ts';

let folder: string;
let stateFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'maas-simulator-'));
  stateFile = join(folder, 'state');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Everything a client or a test can see of a region. */
async function picture(maas: SimulatedMaas): Promise<unknown> {
  const paths = [
    'machines/',
    'zones/',
    'resourcepools/',
    'tags/',
    'subnets/',
    'boot-resources/',
    'events/?op=query&level=DEBUG',
  ];
  const read = await Promise.all(paths.map(async (path) => (await maas.api('GET', path)).json));
  const controls = await Promise.all(
    ['effects', 'auto', 'faults'].map(async (path) => (await maas.control('GET', path)).json),
  );
  return [...read, ...controls];
}

async function liveALittle(maas: SimulatedMaas): Promise<string[]> {
  await maas.control('POST', 'auto', { deploy_ms: 1000, release_ms: 500, fail_times: { deploy: { n002: 1 } } });
  const { json: ids } = await maas.control('POST', 'seed', {
    count: 3,
    power_type: 'ipmi',
    tags: ['compute'],
    zones: ['az1'],
    pools: ['p'],
  });
  for (const id of ids) await maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' });
  await maas.api('POST', `machines/${ids[0]}/?op=set_workload_annotations`, { run: 'r1' });
  await maas.api('POST', 'maas/?op=set_config', { name: 'node_timeout', value: '45' });
  await maas.control('POST', 'faults', [{ match: 'never', kind: '503', times: 3 }]);
  await maas.api('POST', 'tags/', { name: 'gone' });
  await maas.api('DELETE', 'tags/gone/');
  return ids;
}

describe('a state file', () => {
  it('brings a simulator back to where it was, without being closed', async () => {
    const first = await SimulatedMaas.start({ stateFile });
    await liveALittle(first);
    const before = await picture(first);
    // The file as a kill would leave it.
    const left = join(folder, 'left');
    copyFileSync(stateFile, left);
    const second = await SimulatedMaas.start({ stateFile: left });
    expect(await picture(second)).toEqual(before);
    expect((await second.api('GET', 'maas/?op=get_config&name=node_timeout')).json).toBe(45);
    await first.close();
    await second.close();
  });

  it('is given the machines of a later seed that it lacks, and keeps those that it has', async () => {
    const seed = (...names: string[]) => ({ machines: names.map((hostname) => ({ hostname, status: S.New })) });
    const machines = async (maas: SimulatedMaas) => {
      const { json } = await maas.api('GET', 'machines/');
      return (json as { hostname: string; system_id: string }[]).map(({ hostname, system_id }) => [
        hostname,
        system_id,
      ]);
    };
    const first = await SimulatedMaas.start({ stateFile, seed: seed('a', 'b') });
    const before = await machines(first);
    await first.close();
    const second = await SimulatedMaas.start({ stateFile, seed: seed('b', 'c') });
    const after = await machines(second);
    expect(after.slice(0, 2)).toEqual(before);
    expect(after.map(([hostname]) => hostname)).toEqual(['a', 'b', 'c']);
    await second.close();
  });

  it('continues running phases, each at its time', async () => {
    const first = await SimulatedMaas.start({ stateFile });
    const ids = await liveALittle(first);
    await first.close();
    const second = await SimulatedMaas.start({ stateFile });
    second.clock.advance(999);
    expect(await second.status(ids[0] as string)).toBe(S.Deploying);
    second.clock.advance(1);
    expect([await second.status(ids[0] as string), await second.status(ids[1] as string)]).toEqual([
      S.Deployed,
      S.FailedDeployment,
    ]);
    // The one failure is used up, after a restart too.
    await second.api('POST', `machines/${ids[1]}/?op=release`);
    second.clock.advance(500);
    await second.close();
    const third = await SimulatedMaas.start({ stateFile });
    await third.api('POST', `machines/${ids[1]}/?op=deploy`);
    third.clock.advance(1000);
    expect(await third.status(ids[1] as string)).toBe(S.Deployed);
    await third.close();
  });

  it('a write that was cut short anywhere costs that one change and no other', async () => {
    const first = await SimulatedMaas.start({ stateFile });
    const id = await first.machine({ status: S.Allocated });
    const whole = readFileSync(stateFile).length;
    await first.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' });
    await first.close();
    const end = readFileSync(stateFile).length;
    for (const cut of [whole, whole + 1, Math.floor((whole + end) / 2), end - 1]) {
      const left = join(folder, `cut-${cut}`);
      copyFileSync(stateFile, left);
      truncateSync(left, cut);
      const second = await SimulatedMaas.start({ stateFile: left });
      expect(await second.status(id)).toBe(S.Allocated);
      expect(await second.moves()).toEqual([]);
      expect((await second.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' })).status).toBe(200);
      await second.close();
    }
  });

  it('the seed is planted once', async () => {
    for (let start = 0; start < 2; start++) {
      const maas = await SimulatedMaas.start({ stateFile, seed: { count: 2 }, auto: { deploy_ms: 5 } });
      expect((await maas.api('GET', 'machines/')).json).toHaveLength(2);
      expect((await maas.control('GET', 'auto')).json).toMatchObject({ deploy_ms: 5 });
      await maas.close();
    }
  });

  it('a reset is kept', async () => {
    const first = await SimulatedMaas.start({ stateFile });
    await liveALittle(first);
    await first.control('POST', 'reset');
    await first.close();
    const second = await SimulatedMaas.start({ stateFile });
    expect((await second.api('GET', 'machines/')).json).toEqual([]);
    await second.close();
  });

  it('another file is refused by line and left alone', async () => {
    writeFileSync(stateFile, '[]\nhello\n');
    await expect(simulateMaas({ port: 0, stateFile })).rejects.toThrow(`${stateFile}:2`);
    expect(readFileSync(stateFile, 'utf8')).toBe('[]\nhello\n');
  });
});

describe('kill -9', () => {
  /** A simulator in a process of its own; resolves with its origin. */
  async function launch(): Promise<{ child: ChildProcess; origin: string }> {
    const child = spawn(process.execPath, [fileURLToPath(new URL('simulate.ts', import.meta.url)), stateFile], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const origin = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.once('exit', (code) => reject(new Error(`the simulator ended with ${code}: ${said}`)));
      child.stdout?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const found = /(http:\/\/\S+)\/MAAS/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    return { child, origin };
  }

  it('in the middle of 60 deployments loses none that was answered and repeats none', async () => {
    const answered = new Set<string>();
    let ids: string[] = [];
    for (const killAfter of [0, 17, 40, Number.POSITIVE_INFINITY]) {
      const { child, origin } = await launch();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      try {
        if (ids.length === 0) {
          const reply = await fetch(`${origin}/_control/seed`, { method: 'POST', body: JSON.stringify({ count: 60 }) });
          ids = (await reply.json()) as string[];
        }
        const post = async (id: string): Promise<void> => {
          const reply = await fetch(`${origin}/MAAS/api/2.0/machines/${id}/?op=deploy`, {
            method: 'POST',
            headers: { Authorization: authorization(simulatorKeys.admin, Date.now()) },
          });
          // 409 is the answer to one that was carried out before a kill that cost its answer.
          if (reply.status === 200 || reply.status === 409) answered.add(id);
          if (answered.size > killAfter) child.kill('SIGKILL');
        };
        await Promise.allSettled(ids.filter((id) => !answered.has(id)).map(post));
        if (killAfter !== Number.POSITIVE_INFINITY) continue;
        const effects = (await (await fetch(`${origin}/_control/effects`)).json()) as {
          system_id: string;
          to: number;
        }[];
        const deployed = effects.filter(({ to }) => to === S.Deploying).map(({ system_id }) => system_id);
        expect(deployed.sort()).toEqual([...ids].sort());
        expect(answered.size).toBe(60);
      } finally {
        child.kill('SIGKILL');
        await ended;
      }
    }
  });
});
