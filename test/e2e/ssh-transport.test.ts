import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { carryOutOrder, type Execution, type TaskResult } from '../../src/agent/index.ts';
import type { NodePolicy } from '../../src/agent/onboarding/node-policy.ts';
import { remotePlace } from '../../src/agent/ssh/connection-scripts.ts';
import { SshNode, type SshNodeOptions } from '../../src/agent/ssh/ssh-node.ts';
import { formatManifest } from '../../src/core/sources/folder-manifest.ts';
import { eventually } from '../rig/agent-site.ts';
import { SshdRig, sshdMissing } from '../rig/sshd.ts';
import { TcpProxy } from '../rig/tcp-proxy.ts';

const missing = sshdMissing();
if (missing !== undefined) console.warn(`skipped: tasks over ssh, because ${missing}`);
const has = (program: string) => spawnable(program);
function spawnable(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$0"', program]);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(missing !== undefined)('tasks of a node without an agent', () => {
  let rig: SshdRig;
  let count = 0;
  const at = (name: string) => rig.at(name);
  beforeAll(async () => {
    rig = await SshdRig.open();
  });
  afterAll(() => rig.close());

  const allowed = (): NodePolicy => ({ shell: 'allow', path_roots: [at('')] });
  const node = (more: Partial<SshNodeOptions> = {}): SshNode =>
    new SshNode({
      node: 'n1',
      target: rig.target,
      stateDir: at('state'),
      policyFile: at('policy.yaml'),
      policy: { ...allowed(), path_roots: [rig.folder] },
      orders: {
        secret: async (ref) => `value of ${ref}`,
        source: async (path) => readFileSync(path),
      },
      ...more,
    });
  const execution = (type: string, parameters: Record<string, unknown>, more: Partial<Execution> = {}): Execution => ({
    run: '7',
    task: `task-${++count}`,
    node: 'n1',
    generation: 1,
    type,
    parameters,
    ...more,
  });
  const shell = (cmd: string, more: Record<string, unknown> = {}) =>
    execution('shell', { cmd, retries: 0, interval: 0, ...more });
  async function end(host: SshNode, wanted: Execution, from = {}): Promise<{ result: TaskResult; output: string }> {
    let output = '';
    for await (const event of host.follow(wanted, from)) {
      if (event.kind === 'output' && event.stream === 'stdout') output += event.bytes.toString();
      if (event.kind === 'ended') return { result: event.result, output };
    }
    throw new Error('no end');
  }
  async function carried(wanted: Execution, host = node()): Promise<TaskResult> {
    expect(await host.ensure(wanted)).toMatchObject({ kind: 'accepted' });
    return (await end(host, wanted)).result;
  }
  /** Processes that have a text in their command line. */
  const running = (text: string): string[] =>
    execFileSync('sh', ['-c', 'grep -alF "$0" /proc/[0-9]*/cmdline 2>/dev/null; true', text])
      .toString()
      .split('\n')
      .filter((path) => path !== '' && !path.includes(`/${process.pid}/`) && existsSync(path));

  it('a script runs once, however often and by however many clients it is requested', async () => {
    const odd = `'"$(id) \`id\` ; \\ ü`;
    const wanted = shell(
      `echo x >>${at('count')}; printf '%s' "${odd.replaceAll(/["$`\\]/g, '\\$&')}"; echo err >&2; exit 0`,
    );
    const [a, b] = [node(), node()];
    await Promise.all([a.ensure(wanted), b.ensure(wanted), a.ensure(wanted)]);
    const [first, second] = await Promise.all([end(a, wanted), end(b, wanted)]);
    expect(first.output).toBe(odd);
    expect(first.result).toMatchObject({ outcome: 'success', exitCode: 0, changed: null, leftRunning: 0 });
    expect(first.result.output.stderr).toMatchObject({ bytes: 4, dropped: 0, tail: 'err\n' });
    expect(second).toEqual(first);
    expect(await a.ensure(wanted)).toMatchObject({ kind: 'accepted' });
    expect(readFileSync(at('count'), 'utf8')).toBe('x\n');
    expect(await a.ensure({ ...wanted, parameters: { cmd: 'other' } })).toEqual({ kind: 'conflict' });
  });

  it('an intent that the node lost or garbled is set aside: an unstarted task starts, a started one is not run again', async () => {
    for (const damage of ['', '{"run":']) {
      const counter = at(`lost-${damage.length}`);
      const wanted = shell(`echo x >>${counter}`);
      const folder = remotePlace(at('state'), wanted).folder;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'execution'), damage);
      expect(await carried(wanted)).toMatchObject({ outcome: 'success' });
      expect(readFileSync(join(folder, 'execution.unreadable'), 'utf8')).toBe(damage);
      writeFileSync(join(folder, 'execution'), damage);
      expect(await carried(wanted)).toMatchObject({ outcome: 'success' });
      expect(readFileSync(counter, 'utf8')).toBe('x\n');
    }
  });

  it.each([
    ['exit', 'cause=done\ncode=0\nstart'],
    ['claim', 'x y z\n'],
  ])(
    'a garbled record of its %s is set aside: the outcome is unknown, and nothing runs again',
    async (file, damage) => {
      const counter = at(`damaged-${++count}`);
      const stray = `86${count}.${process.pid}`;
      const wanted = shell(`echo x >>${counter}; ${file === 'claim' ? `exec sleep ${stray}` : ''}`);
      const folder = remotePlace(at('state'), wanted).folder;
      await node().ensure(wanted);
      if (file === 'exit') await end(node(), wanted);
      else {
        await eventually(() => existsSync(counter));
        // Its runner dies silently.
        process.kill(Number(readFileSync(join(folder, 'claim'), 'utf8').split(' ')[0]), 'SIGKILL');
      }
      writeFileSync(join(folder, file), damage);
      const [again, other] = await Promise.all([carried(wanted), carried(wanted)]);
      expect(again).toEqual(other);
      expect(again).toMatchObject({
        outcome: 'lost',
        failure: { kind: 'journal', execution: `7/${wanted.task}/1`, damage: file },
      });
      expect(readFileSync(join(folder, `${file}.unreadable`), 'utf8')).toBe(damage);
      expect(running(stray)).toEqual([]);
      expect(readFileSync(counter, 'utf8')).toBe('x\n');
      // The next task of the node runs.
      expect(await carried(shell('true'))).toMatchObject({ outcome: 'success' });
    },
  );

  it('a running task with an unreadable claim runs to completion', async () => {
    const gate = at(`claim-gate-${++count}`);
    const wanted = shell(`until [ -e ${gate} ]; do sleep 0.05; done`);
    const host = node();
    await host.ensure(wanted);
    writeFileSync(join(remotePlace(at('state'), wanted).folder, 'claim'), 'garbled');
    const beats = host.follow(wanted);
    expect((await beats.next()).value).toMatchObject({ kind: 'progress' });
    writeFileSync(gate, '');
    expect((await end(node(), wanted)).result).toMatchObject({ outcome: 'success' });
    await beats.return();
  });

  it('a connection that is cut in mid-command is reopened: the command ran once, its output is complete', async () => {
    const proxy = await TcpProxy.open(`127.0.0.1:${rig.target.port}`);
    try {
      const host = node({ target: rig.by(Number(proxy.address.split(':')[1])) });
      const wanted = shell(
        `echo x >>${at('cut')}; echo before; until [ -e ${at('go')} ]; do sleep 0.05; done; echo after`,
      );
      await host.ensure(wanted);
      const following = end(host, wanted);
      await eventually(() => existsSync(at('cut')));
      proxy.cut();
      writeFileSync(at('go'), '');
      proxy.restore();
      const { result, output } = await following;
      expect(result).toMatchObject({ outcome: 'success' });
      expect(output).toBe('before\nafter\n');
      expect(readFileSync(at('cut'), 'utf8')).toBe('x\n');
    } finally {
      await proxy.close();
    }
  });

  it('a cancelled task leaves nothing, however detached', async () => {
    const stray = `86543.${process.pid}`;
    const wanted = shell(
      `trap '' TERM; setsid setsid sh -c "trap '' TERM; sleep ${stray}" & (setsid env -i sleep ${stray} &); touch ${at('started')}; sleep ${stray}; sleep ${stray}`,
    );
    const host = node();
    const stop = { cancel: new AbortController(), leave: new AbortController() };
    const carrying = carryOutOrder(
      { run: '7', task: wanted.task, node: 'n1', generation: 1, type: 'shell', plan: 'p', mode: 'apply' },
      {
        agent: host,
        orders: {
          fetch: async () => ({ execution: wanted }),
          ship: async () => undefined,
          secret: async () => '',
          source: async () => Buffer.alloc(0),
        },
        onProgress: () => undefined,
        cancel: stop.cancel.signal,
        leave: stop.leave.signal,
      },
    );
    await eventually(() => existsSync(at('started')) && running(stray).length >= 3);
    stop.cancel.abort();
    expect(await carrying).toMatchObject({
      kind: 'ended',
      result: { outcome: 'cancelled', killed: { cause: 'cancel', signal: 'SIGKILL', survivors: 0 }, changed: null },
    });
    expect(running(stray).filter((path) => readFileSync(path, 'utf8').startsWith('sleep'))).toEqual([]);
    // One that is cancelled before its start never starts.
    const never = shell(`touch ${at('never')}`);
    await host.cancel(never, 'no');
    expect(await carried(never, host)).toMatchObject({ outcome: 'cancelled', changed: false });
    expect(existsSync(at('never'))).toBe(false);
  });

  it('limits, retries and exit codes hold on the node', async () => {
    expect(await carried(shell('sleep 50', { timeout: 0.5 }))).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'timeout', seconds: 0.5 },
    });
    const counted = at('tries');
    const thrice = shell(`echo x >>${counted}; [ $(wc -l <${counted}) -ge 3 ] || exit 7`, { retries: 4, interval: 0 });
    const result = await carried(thrice);
    expect(result).toMatchObject({ outcome: 'success', tries: [{ exitCode: 7 }, { exitCode: 7 }, { exitCode: 0 }] });
    expect(await carried(shell('exit 3'))).toMatchObject({ failure: { kind: 'exit', exitCode: 3 } });
    expect(await carried(shell('true', { cwd: '/no/such' }))).toMatchObject({
      failure: { kind: 'io', code: 'ENOENT' },
    });
  });

  it('a task whose runner is killed is interrupted, and nothing of it stays', async () => {
    const stray = `86544.${process.pid}`;
    const wanted = shell(`sleep ${stray}`);
    const host = node();
    await host.ensure(wanted);
    const following = end(host, wanted);
    const claim = join(at('state'), 'nodes/n1/ssh/7', wanted.task, '1/claim');
    await eventually(() => running(stray).some((path) => readFileSync(path, 'utf8').startsWith('sleep')));
    process.kill(Number(readFileSync(claim, 'utf8').split(' ')[0]), 'SIGKILL');
    expect((await following).result).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'interrupted', cause: 'supervisor-lost' },
      killed: { survivors: 0 },
    });
    expect(running(stray).filter((path) => existsSync(path) && readFileSync(path, 'utf8').startsWith('sleep'))).toEqual(
      [],
    );
  });

  it('a flood of output is cut and counted to the byte', async () => {
    const wanted = execution(
      'shell',
      { cmd: 'head -c 3000000 /dev/zero | tr "\\0" x', retries: 0 },
      { outputLimitBytes: 1_000_000 },
    );
    const host = node();
    await host.ensure(wanted);
    const { result, output } = await end(host, wanted);
    expect(output).toHaveLength(1_000_000);
    expect(result.output.stdout).toMatchObject({ bytes: 3_000_000, dropped: 2_000_000, binary: false });
  });

  it('files are placed by the same rules as by an agent', async () => {
    const path = at('placed/deep/file');
    const upload = (parameters: Record<string, unknown>) =>
      carried(execution('upload_file', { retries: 0, ...parameters }));
    expect(await upload({ path, data: "it's\n", permissions: '0640', dir_permissions: '0750' })).toMatchObject({
      outcome: 'success',
      changed: true,
    });
    expect(readFileSync(path, 'utf8')).toBe("it's\n");
    expect([statSync(path).mode & 0o777, statSync(at('placed')).mode & 0o777]).toEqual([0o640, 0o750]);
    expect(await upload({ path, data: "it's\n", permissions: '0640' })).toMatchObject({
      outcome: 'success',
      changed: false,
    });
    expect(await upload({ path, data: { secret: 'db/password' }, permissions: '0600' })).toMatchObject({
      changed: true,
    });
    expect(readFileSync(path, 'utf8')).toBe('value of db/password');
    symlinkSync(path, at('link'));
    for (const wrong of [at('link'), '/usr/bin/sitewright-test', at('placed')])
      expect(await upload({ path: wrong, data: 'x' }), wrong).toMatchObject({
        failure: { kind: 'refused-path', path: wrong },
      });
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
    symlinkSync('/usr/bin', at('out'));
    expect(await upload({ path: at('out/sitewright-test'), data: 'x' })).toMatchObject({
      failure: { kind: 'refused-path' },
    });
    writeFileSync(at('source'), Buffer.from([0, 255, 10]));
    const copy = execution('copy_files', {
      files: [
        { src: at('source'), dst: at('copied') },
        { src: at('absent'), dst: at('b') },
      ],
    });
    expect(await carried(copy)).toMatchObject({
      outcome: 'failed',
      changed: true,
      failure: { kind: 'files', files: [{ path: at('absent'), reason: 'ENOENT' }] },
    });
    expect([...readFileSync(at('copied'))]).toEqual([0, 255, 10]);
    // The secret is in the file it was for, and nowhere else.
    expect(
      execFileSync('sh', ['-c', 'grep -rlF "value of db" "$0" /dev/shm; true', rig.folder]).toString().trim(),
    ).toBe(path);
  });

  it('nothing in ids, paths and folders is ever executed', async () => {
    const trap = at('trap');
    const texts = [
      `;touch ${trap}`,
      `$(touch ${trap})`,
      `\`touch ${trap}\``,
      `\ntouch ${trap}\n`,
      `'"; touch ${trap} #`,
      '-rf',
      '*',
    ];
    const names = texts.map((text) => text.replaceAll('/', ''));
    const files = names.map((name) => ({ dst: at(`odd/ ${name}/ ${name}`), data: name }));
    const upload = execution('upload_files', { nodes: [{ uid: 'n1', files }], retries: 0 }, { task: texts.join('') });
    expect(await carried(upload)).toMatchObject({ outcome: 'success', changed: true });
    for (const [at, { dst }] of files.entries()) expect(readFileSync(dst, 'utf8')).toBe(names[at]);
    for (const text of texts.slice(0, 2)) {
      const cwd = await carried({ ...shell('true', { cwd: `/tmp/${text}` }), run: text });
      expect(cwd).toMatchObject({ failure: { kind: 'io', code: 'ENOENT' } });
    }
    expect(existsSync(trap)).toBe(false);
  });

  it.skipIf(!has('perl'))('nothing lands outside the roots while a folder is swapped for a link', async () => {
    const [roots, outside] = [at('roots'), at('outside')];
    for (const folder of [`${roots}/swap`, outside]) mkdirSync(folder, { recursive: true });
    symlinkSync(outside, `${roots}/link`);
    writeFileSync(at('swapped'), 'x'.repeat(1000));
    // Now the folder, now a link to the outside, for some milliseconds each.
    // A folder made in its place between two renames is put aside.
    const swap = `chdir shift; my $made = 0; for (;;) {
      for (['swap', 'real', 'link', 'swap'], ['swap', 'link', 'real', 'swap']) {
        rename $$_[0], $$_[1] or die;
        until (rename $$_[2], $$_[3]) { rename $$_[3], 'made-' . $made++ or die }
        select undef, undef, undef, rand 0.02;
      }
    }`;
    const swapping = spawn('perl', ['-e', swap, roots], { stdio: 'ignore' });
    try {
      const files = Array.from({ length: 150 }, (_unused, n) => ({
        src: at('swapped'),
        dst: `${roots}/swap/${n % 2 === 0 ? '' : `deep-${n}/`}file-${n}`,
      }));
      const policy: NodePolicy = { ...allowed(), path_roots: [roots] };
      const copied = await carried(execution('copy_files', { files }), node({ policy }));
      expect(swapping.exitCode).toBeNull();
      expect(readdirSync(outside)).toEqual([]);
      const tried = readdirSync(`${roots}/${existsSync(`${roots}/real`) ? 'real' : 'swap'}`);
      expect(tried.length).toBeGreaterThan(0);
      expect(copied).toMatchObject({ outcome: 'failed', changed: true, failure: { kind: 'files' } });
    } finally {
      swapping.kill();
    }
  });

  it('the files of a package are placed, and extra ones deleted', async () => {
    const src = 'package:metrics==1.0.0/scripts';
    const files: Record<string, string> = { 'a.pp': 'a', 'bin/run.sh': 'run' };
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    const list = formatManifest(
      Object.entries(files).map(([path, text]) => ({ path, sha256: hash(text), executable: path.endsWith('.sh') })),
    );
    const sent: string[] = [];
    const orders = {
      secret: async () => '',
      source: async (path: string) => {
        if (path === src) return Buffer.from(list);
        sent.push(path.slice(src.length + 2));
        return Buffer.from(files[sent.at(-1)!]!);
      },
    };
    const dst = at('plugin');
    mkdirSync(join(dst, 'old'), { recursive: true });
    writeFileSync(join(dst, 'old/x'), 'x');
    const run = (digest: string) =>
      carried(execution('package_files', { src, digest, dst, retries: 0 }), node({ orders }));
    expect(await run(hash(list))).toMatchObject({ outcome: 'success', changed: true });
    expect(readdirSync(dst, { recursive: true }).sort()).toEqual(['a.pp', 'bin', 'bin/run.sh']);
    expect(statSync(join(dst, 'bin/run.sh')).mode & 0o777).toBe(0o755);
    expect(await run(hash(list))).toMatchObject({ outcome: 'success', changed: false });
    expect(await run(hash('another list'))).toMatchObject({ outcome: 'failed' });
    expect(sent).toEqual(['a.pp', 'bin/run.sh']);
  });

  it('of the files of a package only those that differ are sent, and an interrupted transfer continues', async () => {
    const src = 'package:big==1.0.0/repository';
    const big = Buffer.alloc(7_000_000, 'a deb ');
    const files: Record<string, Buffer> = { big, small: Buffer.from('1'), "it's odd\n": Buffer.from([0, 255, 10]) };
    const hash = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex');
    const sent: string[] = [];
    let refused: string | undefined;
    const run = (task: number) => {
      const list = formatManifest(
        Object.entries(files).map(([path, content]) => ({ path, sha256: hash(content), executable: false })),
      );
      const source = async (path: string) => {
        if (path === src) return Buffer.from(list);
        const name = path.slice(src.length + 2);
        if (name === refused) throw new Error('the store is away');
        sent.push(name);
        return files[name]!;
      };
      const parameters = { src, digest: hash(list), dst: at('repository'), retries: 0 };
      const wanted = execution('package_files', parameters, { task: `bring-${task}` });
      return carried(wanted, node({ orders: { secret: async () => '', source } }));
    };
    refused = 'small';
    await expect(run(1)).rejects.toThrow('the store is away');
    expect(existsSync(at('repository'))).toBe(false);
    refused = undefined;
    expect(await run(1)).toMatchObject({ outcome: 'success', changed: true });
    expect(readFileSync(at('repository/big')).equals(big)).toBe(true);
    expect([...readFileSync(at("repository/it's odd\n"))]).toEqual([0, 255, 10]);
    // Output from before the interruption was not sent again.
    expect(sent).toEqual(['big', "it's odd\n", 'small']);
    files.small = Buffer.from('2');
    writeFileSync(at("repository/it's odd\n"), 'someone changed it');
    expect(await run(2)).toMatchObject({ outcome: 'success', changed: true });
    expect(sent.slice(3)).toEqual(["it's odd\n", 'small']);
    expect(readFileSync(at('repository/small'), 'utf8')).toBe('2');
    expect(readdirSync(join(at('state'), 'nodes/n1/ssh-content'))).toEqual([]);
  });

  it.skipIf(!has('rsync'))('a folder is synchronised, and changes are reported', async () => {
    mkdirSync(at('from'));
    writeFileSync(at('from/a'), 'a');
    const sync = () => carried(execution('sync', { src: `${at('from')}/`, dst: at('to'), retries: 0 }));
    expect(await sync()).toMatchObject({ outcome: 'success', changed: true });
    expect(await sync()).toMatchObject({ outcome: 'success', changed: false, summary: { changes: 0 } });
    expect(await carried(execution('sync', { src: at('absent/'), dst: at('to'), retries: 0 }))).toMatchObject({
      failure: { kind: 'exit', exitCode: 23 },
    });
  });

  it.skipIf(!has('puppet'))('puppet is judged by exit code and summary', async () => {
    writeFileSync(at('site.pp'), `file { '${at('by-puppet')}': content => 'x' }`);
    const puppet = (more: Partial<Execution> = {}) =>
      execution('puppet', { puppet_manifest: at('site.pp'), retries: 0, puppet_modules: at('modules') }, more);
    expect(await carried(puppet({ mode: 'noop' }))).toMatchObject({ outcome: 'success', summary: { noopPending: 1 } });
    expect(existsSync(at('by-puppet'))).toBe(false);
    expect(await carried(puppet())).toMatchObject({
      outcome: 'success',
      exitCode: 2,
      changed: true,
      summary: { changedResources: [`File[${at('by-puppet')}]`] },
    });
    writeFileSync(at('site.pp'), 'this is { no puppet');
    expect(await carried(puppet())).toMatchObject({ outcome: 'failed', exitCode: 1 });
  });

  it('a task that the policy forbids, or that needs an agent, is refused', async () => {
    const refusal = async (wanted: Execution, host = node()) => JSON.stringify(await host.ensure(wanted));

    const bare = new SshNode({
      node: 'n1',
      target: rig.target,
      stateDir: at('state'),
      policyFile: at('no-policy'),
      orders: { secret: async () => '', source: async () => Buffer.alloc(0) },
    });
    expect(await refusal(shell('true'), bare)).toContain('scripts of signed orders only');
    expect(await refusal(execution('reboot', {}))).toContain('need an agent');
    expect(await refusal({ ...shell('true'), secrets: [{ name: 'A', ref: 'a', as: 'file' }] })).toContain(
      'needs an agent',
    );
    expect(await refusal(execution('shell', {}))).toContain('cmd');
    // The node's own policy takes precedence over the orchestrator's.
    writeFileSync(at('policy.yaml'), 'shell: deny\n');
    expect(await refusal(shell('true'))).toContain('forbids scripts');
    writeFileSync(at('policy.yaml'), 'shell: [');
    await expect(refusal(shell('true'))).rejects.toThrow('not usable');
    writeFileSync(at('policy.yaml'), 'shell: allow\n');
    expect(await carried(shell('true'))).toMatchObject({ outcome: 'success' });
    execFileSync('rm', [at('policy.yaml')]);
    expect(await carried({ ...shell('touch /x'), mode: 'noop' })).toMatchObject({ outcome: 'skipped', changed: false });
    expect(await node().facts()).toMatchObject({
      node: 'n1',
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    });
  });

  it('one task runs at a time, also with an agent on the same node', async () => {
    const lock = join(at('state'), 'nodes/n1/lock');
    const holder = spawn('flock', [lock, 'sh', '-c', 'echo held; read x'], { stdio: ['pipe', 'pipe', 'ignore'] });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    expect(await carried(shell('true'), node({ lockWaitSec: 0.3 }))).toMatchObject({ failure: { kind: 'busy' } });
    holder.stdin.end('\n');
  });
});
