import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Execution, TaskResult } from '../../src/agent/index.ts';
import { SshNode } from '../../src/agent/ssh/ssh-node.ts';
import { eventually } from '../rig/agent-site.ts';
import { SshdRig, sshdMissing } from '../rig/sshd.ts';

const missing = sshdMissing();
if (missing !== undefined) console.warn(`skipped: what tasks over ssh leave behind, because ${missing}`);

describe.skipIf(missing !== undefined)('a node without an agent, where no cgroup can be made', () => {
  let rig: SshdRig;
  let host: SshNode;
  let count = 0;
  const at = (name: string) => rig.at(name);
  beforeAll(async () => {
    rig = await SshdRig.open({ withoutGroups: true });
    host = new SshNode({
      node: 'n1',
      target: rig.target,
      stateDir: at('state'),
      policyFile: at('policy.yaml'),
      policy: { shell: 'allow' },
      orders: { secret: async () => '', source: async () => Buffer.alloc(0) },
    });
  });
  afterAll(() => rig.close());

  const shell = (cmd: string): Execution => ({
    run: '7',
    task: `task-${++count}`,
    node: 'n1',
    generation: 1,
    type: 'shell',
    parameters: { cmd, retries: 0, interval: 0 },
    killGraceSec: 1,
  });
  async function end(wanted: Execution): Promise<TaskResult> {
    for await (const event of host.follow(wanted)) if (event.kind === 'ended') return event.result;
    throw new Error('no end');
  }
  /** Sleepers of a task: the number they sleep for is unique. */
  const asleep = (stray: string): number[] =>
    execFileSync('sh', ['-c', 'grep -alF "$0" /proc/[0-9]*/cmdline 2>/dev/null; true', stray])
      .toString()
      .split('\n')
      .filter((path) => path !== '' && existsSync(path) && readFileSync(path, 'utf8').startsWith('sleep\0'))
      .map((path) => Number(path.split('/')[2]));
  const folderOf = ({ task }: Execution) => join(at('state'), 'nodes/n1/ssh/7', task, '1');

  /** A daemon of a daemon, each in a separate session, without its environment, whose parents have ended. */
  const hidden = (stray: string) =>
    `env -i setsid sh -c 'env -i setsid sh -c "sleep ${stray} & exec sleep ${stray}" & exit' & wait $!`;

  it('ends all processes of a cancelled task, in whatever session and environment', async () => {
    const stray = `86551.${process.pid}`;
    const wanted = shell(`${hidden(stray)}; touch ${at('started')}; sleep ${stray}`);
    await host.ensure(wanted);
    const ending = end(wanted);
    await eventually(() => existsSync(at('started')) && asleep(stray).length === 3);
    const bystander = asleep(stray).length;
    expect(bystander).toBe(3);
    await host.cancel(wanted, 'no');
    expect(await ending).toMatchObject({
      outcome: 'cancelled',
      killed: { cause: 'cancel', means: 'process-walk', survivors: 0 },
    });
    expect(asleep(stray)).toEqual([]);
  });

  it('ends all processes of a task at its timeout', async () => {
    const stray = `86552.${process.pid}`;
    const wanted = { ...shell(`${hidden(stray)}; sleep ${stray}`), deadlineSec: 1.5 };
    await host.ensure(wanted);
    expect(await end(wanted)).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'timeout' },
      killed: { survivors: 0 },
    });
    expect(asleep(stray)).toEqual([]);
  });

  it('keeps and counts a daemon that a task leaves at its own end', async () => {
    const stray = `86553.${process.pid}`;
    const wanted = shell(hidden(stray));
    await host.ensure(wanted);
    expect(await end(wanted)).toMatchObject({ outcome: 'success', killed: null, leftRunning: 2 });
    const left = asleep(stray);
    expect(left).toHaveLength(2);
    for (const pid of left) process.kill(pid);
  });

  it('has the processes of a killed runner ended by the next runner', async () => {
    const stray = `86554.${process.pid}`;
    const wanted = shell(`${hidden(stray)}; sleep ${stray}`);
    await host.ensure(wanted);
    const ending = end(wanted);
    const known = () =>
      existsSync(join(folderOf(wanted), 'known')) ? readFileSync(join(folderOf(wanted), 'known'), 'utf8') : '';
    await eventually(() => asleep(stray).length === 3 && asleep(stray).every((pid) => known().includes(`${pid}:`)));
    process.kill(Number(readFileSync(join(folderOf(wanted), 'claim'), 'utf8').split(' ')[0]), 'SIGKILL');
    expect(await ending).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'interrupted' },
      killed: { survivors: 0 },
    });
    expect(asleep(stray)).toEqual([]);
  });
});
