import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtProgram } from '../../rig/program.ts';
import { cli } from './recording-terminal.ts';
import { RUN_ID, runRecord, runStatus, stubApi } from './stub-api.ts';

const bin = fileURLToPath(new URL('../../../bin/sitewright', import.meta.url));

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-shell-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('bin/sitewright', () => {
  const installed = (): string => {
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const name of ['sitewright', 'node-24.mjs', 'own-node.mjs'])
      copyFileSync(join(dirname(bin), name), join(folder, 'bin', name));
    return join(folder, 'bin/sitewright');
  };

  it('is executable', () => expect(spawnSync('test', ['-x', bin]).status).toBe(0));

  it('prints the next step for an incomplete package', () => {
    const { status, stderr } = spawnSync(process.execPath, [installed()], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toBe('Sitewright is incomplete: dist/programs is missing. Install it again.\n');
  });

  it('runs the built program', () => {
    const program = installed();
    mkdirSync(join(folder, 'dist/programs'), { recursive: true });
    writeFileSync(join(folder, 'dist/programs/main.js'), 'console.log(process.argv.slice(2).join(" "))');
    expect(execFileSync(process.execPath, [program, 'a', 'b'], { encoding: 'utf8' })).toBe('a b\n');
  });
});

describe('as a process of its own', () => {
  const [node, main] = builtProgram('src/cli/main.ts');
  const start = (args: readonly string[], url: string) =>
    spawn(node, [main, ...args], {
      env: { ...process.env, SITEWRIGHT_API: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  it('Ctrl-C ends watching with 130 and reports that the run continues', async () => {
    const api = await stubApi(({ at }) => [
      200,
      at.endsWith('/status') ? runStatus() : { ...runRecord(), parameters: {} },
    ]);
    const watching = start(['run', 'watch', RUN_ID], api.url);
    let err = '';
    watching.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    watching.stdout.once('data', () => watching.kill('SIGINT'));
    const code = await new Promise((done) => watching.once('close', done));
    await api.close();
    expect(code).toBe(130);
    expect(err).toMatch(/^interrupted: the run continues\./);
  });

  it('a reader that closes the pipe early is not a failure', async () => {
    const items = Array.from({ length: 2_000 }, () => runRecord({ reason: 'x'.repeat(500) }));
    const api = await stubApi(() => [200, { items, next: null }]);
    const listing = start(['run', 'list', '-f', 'json'], api.url);
    let err = '';
    listing.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    listing.stdout.once('data', () => listing.stdout.destroy());
    const code = await new Promise((done) => listing.once('close', done));
    await api.close();
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});

describe('completion', () => {
  /** Bash's completions after these words. A stub provides names and records which ones it was asked for. */
  const offeredBy = (script: string, ...words: string[]): string[] => {
    const text = `sitewright() { echo "$*" | tr ' ' '-'; }
${script}
COMP_WORDS=(sitewright ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _sitewright; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', text], { encoding: 'utf8' }).trim().split(' ');
  };

  it('in bash offers commands, subcommands and options', async () => {
    const { out } = await cli(['completion', 'bash']);
    expect(offeredBy(out, 'si')).toEqual(['site']);
    expect(offeredBy(out, 'site', 'de')).toEqual(['delete', 'deploy']);
    expect(offeredBy(out, 'site', 'deploy', 'dc1', '--wa')).toEqual(['--wait', '--watch']);
    expect(offeredBy(out, '--api', 'x', 'run', 'list', '--ou')).toEqual(['--outcome']);
  });

  it.each([
    ['values of an option', ['site', 'list', '-f', 'c'], ['csv']],
    ['values of a repeatable one', ['run', 'list', '--outcome', 'success_'], ['success_with_failures']],
    ['values of an argument', ['completion', 'z'], ['zsh']],
    ['sites', ['site', 'deploy', ''], ['completion-bash---values-sites---of-']],
    [
      'sites after an option with a value',
      ['site', 'deploy', '--title', 'x', ''],
      ['completion-bash---values-sites---of-'],
    ],
    ['sites as a value', ['run', 'list', '--site', ''], ['completion-bash---values-sites---of-']],
    ['runs', ['run', 'report', ''], ['completion-bash---values-runs---of-']],
    ['nodes of the run', ['run', 'retry', 'r1', ''], ['completion-bash---values-run-nodes---of-r1']],
    ['nodes of the site', ['node', 'history', 'dc1', ''], ['completion-bash---values-site-nodes---of-dc1']],
    ['clusters', ['graph', 'plan', '--cluster', ''], ['completion-bash---values-clusters---of-']],
    ['nothing where the shell offers files', ['site', 'check', ''], ['']],
  ])('in bash offers %s', async (_, words, offered) => {
    expect(offeredBy((await cli(['completion', 'bash'])).out, ...words)).toEqual(offered);
  });

  it('asks the API for names, and offers none where it does not answer', async () => {
    const api = await stubApi(() => [200, { items: [{ name: 'dc1' }, { name: 'dc2' }] }]);
    const names = ['completion', 'bash', '--values', 'sites'];
    expect((await cli(names, { env: { SITEWRIGHT_API: api.url } })).out).toBe('dc1\ndc2\n');
    await api.close();
    expect(await cli(names, { env: { SITEWRIGHT_API: api.url } })).toMatchObject({ code: 0, out: '', err: '' });
  });

  it('in fish and zsh names every command', async () => {
    for (const shell of ['fish', 'zsh']) {
      const { out } = await cli(['completion', shell]);
      for (const word of ['site', 'simulate', 'doctor', 'watch']) expect(out).toMatch(new RegExp(`\\b${word}\\b`));
    }
  });

  it('for another shell is refused', async () => {
    expect((await cli(['completion', 'tcsh'])).code).toBe(2);
  });
});

it('the JSON Schemas are written as the documentation has them', async () => {
  const { code } = await cli(['schemas', 'export', '-o', folder]);
  expect(code).toBe(0);
  const kept = new URL('../../../docs/schemas/', import.meta.url);
  const names = readdirSync(kept).filter((name) => name.endsWith('.json'));
  expect(readdirSync(folder).sort()).toEqual(names.sort());
  for (const name of names)
    expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toEqual(
      JSON.parse(readFileSync(new URL(name, kept), 'utf8')),
    );
});

describe('the store', () => {
  const env = () => ({ SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'a.db')}` });

  it('is not created by reading it', async () => {
    const { code, err } = await cli(['db', 'status'], { env: env(), cwd: folder });
    expect(code).toBe(3);
    expect(err).toMatch(/no database yet at .*a\.db/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is created by migrating, and then up to date', async () => {
    const made = await cli(['db', 'migrate'], { env: env(), cwd: folder });
    expect(made).toMatchObject({ code: 0 });
    expect(made.out).toMatch(/^applied 1 /);
    const { code, out } = await cli(['db', 'status', '-f', 'json'], { env: env(), cwd: folder });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ dialect: 'sqlite', pending: [] });
  });

  it('with a wrong address is refused', async () => {
    const { code } = await cli(['db', 'status'], { env: { SITEWRIGHT_STORE_URL: 'mysql://x' }, cwd: folder });
    expect(code).toBe(2);
  });
});

it('the doctor works when everything is down, and prints the fixes', async () => {
  const env = { SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9', SITEWRIGHT_API: 'http://127.0.0.1:9' };
  const { code, out } = await cli(['doctor'], { env, cwd: folder });
  expect(code).toBe(5);
  expect(out).toMatch(/^FAIL +temporal .*\n +fix: .*sitewright up/m);
  expect(out).toMatch(/^- +worker +not checked: Temporal must work first$/m);
  expect(out).toMatch(/^FAIL +maas .*\n +fix: /m);
  expect(out).toMatch(/^FAIL +api .*\n +fix: /m);
  expect(out).toMatch(/^ok +node /m);
});

it('the doctor continues when the settings are wrong', async () => {
  const env = { SITEWRIGHT_LOG_LEVEL: 'loud', SITEWRIGHT_API: 'http://127.0.0.1:9' };
  const { code, out } = await cli(['doctor', '-f', 'json'], { env, cwd: folder });
  expect(code).toBe(5);
  expect(JSON.parse(out)).toMatchObject([
    { name: 'node', state: 'ok' },
    { name: 'settings', state: 'fail', message: expect.stringContaining('SITEWRIGHT_LOG_LEVEL') },
    { name: 'api', state: 'fail' },
  ]);
});

describe('maas simulate', () => {
  it('on a port in use is a conflict', async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
    const { port } = taken.address() as { port: number };
    const { code, err } = await cli(['maas', 'simulate', '--port', String(port)]);
    taken.close();
    expect(code).toBe(4);
    expect(err).toMatch(/is in use/);
  });

  it.each([
    [['--auto', '{'], /--auto is not JSON/],
    [['--seed', '/nowhere.json'], /cannot be read/],
    [['--host', '0.0.0.0'], /this machine only/],
    [['--port', '70000'], /0 to 65535/],
  ])('with %j is refused', async (args, message) => {
    const { code, err } = await cli(['maas', 'simulate', '--port', '0', ...args]);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});
