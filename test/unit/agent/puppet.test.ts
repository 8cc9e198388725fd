import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { executionFolder } from '../../../src/agent/journal/execution.ts';
import { Journal } from '../../../src/agent/journal/journal.ts';
import { DEFAULT_TASK_PATH } from '../../../src/agent/supervision/task-process.ts';
import { judgePuppet } from '../../../src/agent/task-types/puppet.ts';
import { namesInReport, readPuppetSummary } from '../../../src/agent/task-types/puppet-summary.ts';
import { AgentRig, printed } from '../../rig/agent.ts';
import { appears, Gate } from '../../rig/gate.ts';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

const summaryText = (resources: string, lastRun = 1000) => `---
version:
  config: 999
  puppet: 7.23.0
resources:
${resources}
time:
  filebucket: 2.445e-05
  last_run: ${lastRun}
events:
  noop: 3
  total: 3
`;
const clean = '  failed: 0\n  failed_to_restart: 0\n  total: 8';
const exit = (exitCode: number) => ({ kind: 'exit', exitCode }) as const;

describe('#14 the verdict on puppet', () => {
  it.each([
    [0, clean, null, false],
    [2, clean, null, true],
    [4, '  failed: 1', { kind: 'exit', exitCode: 4 }, false],
    [6, '  failed: 1', { kind: 'exit', exitCode: 6 }, true],
    // TERM in the middle of an exec: exit code 1 and a summary that counts no failure.
    [1, clean, { kind: 'exit', exitCode: 1 }, null],
    [0, '  failed: 0\n  failed_to_restart: 1', { kind: 'puppet-summary' }, false],
    [2, '  failed: 2', { kind: 'puppet-summary' }, true],
    [0, '  changed: 0', { kind: 'puppet-summary' }, false],
  ])('exit code %i with %j', (code, resources, failure, changed) => {
    const end = judgePuppet(exit(code), summaryText(resources), 1000);
    expect(end).toMatchObject({ failure, changed, exitCode: code });
  });

  it('needs a summary of this run', () => {
    const stale = judgePuppet(exit(0), summaryText(clean, 999), 1000);
    expect([stale.failure?.kind, stale.summary]).toEqual(['puppet-summary', {}]);
    for (const text of [undefined, '', '\u0000garbage', '---\n- 1'])
      expect(judgePuppet(exit(2), text, 1000).failure?.kind).toBe('puppet-summary');
    expect(judgePuppet({ kind: 'signal', signal: 'SIGKILL' }, summaryText(clean), 1000).failure).toEqual({
      kind: 'signal',
      signal: 'SIGKILL',
    });
  });

  it('reads the summary by sections, and names from the report whatever their quoting', () => {
    expect(readPuppetSummary(summaryText(clean))).toMatchObject({
      version: { puppet: '7.23.0' },
      time: { filebucket: 2.445e-5, last_run: 1000 },
      resources: { failed: 0 },
    });
    const long = `File[/${'x'.repeat(300)}]`;
    const report = `logs:
- message: "    resource: File[/fake]"
resource_statuses:
  "Exec[a: b]":
    resource: "Exec[a: b]"
    failed: true
    changed: false
  ? ${long}
  : title: x
    resource: ${long}
    failed: false
    changed: true
`;
    expect(namesInReport(report)).toEqual({ changed: [long.slice(0, 200)], failed: ['Exec[a: b]'] });
    expect(namesInReport('')).toEqual({ changed: [], failed: [] });
  });
});

const hasPuppet = spawnSync('puppet', ['--version']).status === 0;
if (!hasPuppet) console.warn('puppet is not installed: its tests are skipped (apt-get install puppet-agent)');

describe.skipIf(!hasPuppet)('#14 real puppet', () => {
  let manifests = 0;
  const manifest = (text: string) => {
    const path = rig.path(`manifest-${(manifests += 1)}.pp`);
    writeFileSync(path, text);
    return path;
  };
  const task = (text: string, more: Record<string, unknown> = {}) =>
    rig.task('puppet', { puppet_manifest: manifest(text), puppet_modules: rig.folder, retries: 0, ...more });
  const target = rig.path('managed');

  it('changes something, then finds nothing to change; accepts a prefix from the list', async () => {
    const text = `file { '${target}': content => "managed\\n" }`;
    expect(await rig.run(agent, task(text, { command_prefix: 'nice -n 5' }))).toMatchObject({
      outcome: 'success',
      exitCode: 2,
      changed: true,
      summary: { resources: { changed: 1, failed: 0 }, changedResources: [`File[${target}]`], failedResources: [] },
    });
    expect(readFileSync(target, 'utf8')).toBe('managed\n');
    expect(await rig.run(agent, task(text))).toMatchObject({ outcome: 'success', exitCode: 0, changed: false });
  });

  it('runs a manifest with modules by their paths from the working directory, as plugins write them', async () => {
    const text = `file { '${target}-too': content => 'here' }`;
    const module = rig.path('modules/here/manifests');
    mkdirSync(module, { recursive: true });
    writeFileSync(join(module, 'init.pp'), `class here { ${text} }`);
    writeFileSync(rig.path('relative.pp'), 'include here');
    const parameters = {
      cwd: rig.folder,
      puppet_manifest: 'relative.pp',
      puppet_modules: 'modules:/etc/puppet/modules',
    };
    expect(await rig.run(agent, rig.task('puppet', { ...parameters, retries: 0 }))).toMatchObject({
      outcome: 'success',
      changed: true,
    });
    expect(readFileSync(`${target}-too`, 'utf8')).toBe('here');
  });

  it('reports failed resources, even if there are changes; each retry is an attempt', async () => {
    // One fails, one takes longer than its own limit, and the tasks that need them are left out.
    const failing = `exec { '/bin/false': } exec { '/bin/sleep 1000': timeout => 0.2 }`;
    const [dependent, both] = [rig.path('dependent'), rig.path('both')];
    const text = `${failing} file { '${dependent}': content => 'x', require => Exec['/bin/false'] }`;
    const failed = task(text, { retries: 1 });
    const result = await rig.run(agent, failed);
    expect(result).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'exit', exitCode: 4 },
      changed: false,
      tries: [{ exitCode: 4 }, { exitCode: 4 }],
      summary: { resources: { failed: 2, skipped: 1 } },
    });
    expect(result.summary.failedResources).toEqual(['Exec[/bin/false]', 'Exec[/bin/sleep 1000]']);
    expect((await printed(agent, failed, 'stderr')).toString()).toMatch(/exceeded timeout/i);
    expect(existsSync(dependent)).toBe(false);
    const some = `exec { '/bin/false': } file { '${both}': content => 'x' }`;
    expect(await rig.run(agent, task(some))).toMatchObject({ outcome: 'failed', exitCode: 6, changed: true });
  });

  it('fails on a syntax error and on a missing manifest', async () => {
    expect(await rig.run(agent, task('file {'))).toMatchObject({ outcome: 'failed', exitCode: 1, changed: null });
    const missing = rig.task('puppet', { puppet_manifest: rig.path('none.pp'), retries: 0 });
    expect(await rig.run(agent, missing)).toMatchObject({ outcome: 'failed', exitCode: 1 });
  });

  it('fails on a class of a missing module', async () => {
    expect(await rig.run(agent, task('include no_such_module'))).toMatchObject({ outcome: 'failed', exitCode: 1 });
  });

  it('runs again after success when asked to confirm', async () => {
    const count = rig.path('count');
    const text = `exec { '/bin/sh -c "echo x >> ${count}"': }`;
    expect(await rig.run(agent, task(text, { succeed_retries: 1 }))).toMatchObject({
      outcome: 'success',
      changed: true,
    });
    expect(readFileSync(count, 'utf8')).toBe('x\nx\n');
  });

  it('does not succeed when it gets TERM during an exec, which is ended in its own session', async () => {
    const gate = new Gate(rig.path('exec-gate'));
    const here = rig.path('exec-here');
    const text = `exec { '/bin/sh -c "echo > ${here}; read x < ${gate.path}"': timeout => 0 }`;
    const running = task(text);
    await agent.ensure(running);
    await appears(here);
    agent.cancel(running, 'enough');
    expect(await agent.result(running)).toMatchObject({
      outcome: 'cancelled',
      changed: null,
      killed: { cause: 'cancel', survivors: 0 },
    });
    expect(rig.processesOf(running)).toEqual([]);
  });

  it.each([
    // By itself it ends with exit code 1, and its summary counts no failure.
    ['SIGTERM', { kind: 'exit', exitCode: 1 }],
    ['SIGKILL', { kind: 'signal', signal: 'SIGKILL' }],
  ] as const)(
    "somebody else's %s during an exec is a failure, whatever the summary reports",
    async (signal, failure) => {
      const gate = new Gate(rig.path(`${signal}-gate`));
      const here = rig.path(`${signal}-here`);
      const text = `exec { '/bin/sh -c "echo > ${here}; read x < ${gate.path}"': timeout => 0 }`;
      const running = task(text);
      await agent.ensure(running);
      await appears(here);
      const journal = new Journal(executionFolder(rig.stateDir, running));
      process.kill(journal.readProgress()!.sessions[0]!, signal);
      expect(await agent.result(running)).toMatchObject({ outcome: 'failed', failure, changed: null });
      if (signal === 'SIGKILL') expect(rig.processesOf(running)).toEqual([]);
    },
  );

  it('runs two tasks one after the other', async () => {
    const log = rig.path('serial');
    const text = (name: string) => `exec { '/bin/sh -c "echo ${name}-in >> ${log}; echo ${name}-out >> ${log}"': }`;
    const tasks = [task(text('a')), task(text('b'))];
    const results = await Promise.all(tasks.map((one) => rig.run(rig.agent(), one)));
    expect(results.map(({ outcome }) => outcome)).toEqual(['success', 'success']);
    expect(['a-in\na-out\nb-in\nb-out\n', 'b-in\nb-out\na-in\na-out\n']).toContain(readFileSync(log, 'utf8'));
  });

  it('#15 a noop run changes nothing, not even its own state, and reports what is pending', async () => {
    // Folders of this test's own: other tests run Puppet in the machine's.
    const own = rig.path('own-puppet');
    mkdirSync(`${own}/bin`, { recursive: true });
    const folders = `--confdir=${own}/conf --vardir=${own}/var --publicdir=${own}/public`;
    writeFileSync(`${own}/bin/puppet`, `#!/bin/sh\nPATH="\${PATH#*:}"\nshift\nexec puppet apply ${folders} "$@"\n`, {
      mode: 0o755,
    });
    const ownAgent = rig.agent({ taskPath: `${own}/bin:${DEFAULT_TASK_PATH}` });
    const files = (): string[] =>
      readdirSync(own, { recursive: true, withFileTypes: true })
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => `${path} ${statSync(path).mtimeMs} ${statSync(path).size}`)
        .sort();
    const folder = rig.path('noop');
    mkdirSync(folder);
    await rig.run(ownAgent, task(`file { '${folder}': ensure => directory }`));
    const before = files();
    expect(before.join('\n')).toContain(`${own}/var/state/`);
    const text = `file { '${folder}/x': content => 'x' } exec { '/bin/touch ${folder}/y': }`;
    const parameters = { puppet_manifest: manifest(text), puppet_modules: rig.folder, retries: 0 };
    expect(await rig.run(ownAgent, rig.task('puppet', parameters, { mode: 'noop' }))).toMatchObject({
      outcome: 'success',
      changed: false,
      exitCode: 0,
      summary: { noopPending: 2, events: { noop: 2 } },
    });
    expect(readdirSync(folder)).toEqual([]);
    expect(files()).toEqual(before);
    expect(await rig.run(ownAgent, task(text, { puppet_noop_run: true }))).toMatchObject({
      changed: false,
      exitCode: 0,
    });
    expect(readdirSync(folder)).toEqual([]);
    expect(files()).toEqual(before);
  });
});
