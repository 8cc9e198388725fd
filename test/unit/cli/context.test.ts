import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { warningBeside } from '../../../src/cli/shell/system-beside.ts';
import { cli } from './recording-terminal.ts';
import { problem, type StubApi, stubApi } from './stub-api.ts';

const SINCE = '2026-01-01T00:00:00.000Z';
const system = (store: string, empty = false) => ({
  store,
  since: SINCE,
  temporal: '127.0.0.1:7233, namespace default',
  empty,
});

let home = '';
const apis: StubApi[] = [];
const tokens: (string | undefined)[] = [];

/** An API that says which system it is, and has no sites. */
async function systemApi(store: string, empty = false): Promise<StubApi> {
  const api = await stubApi(({ at }) => {
    if (at === '/system') return [200, system(store, empty)];
    if (at === '/version') return [200, { name: 'sitewright' }];
    return [200, { items: [], next: null }];
  });
  apis.push(api);
  return api;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sitewright-home-'));
  tokens.length = 0;
});
afterEach(async () => {
  for (const api of apis.splice(0)) await api.close();
  rmSync(home, { recursive: true, force: true });
});

const at = (env: NodeJS.ProcessEnv = {}, more: object = {}) => ({ env: { HOME: home, ...env }, cwd: home, ...more });

describe('contexts', () => {
  it('are added, used, listed, shown and removed', async () => {
    const [one, two] = [await systemApi('sqlite at /one'), await systemApi('postgres at two')];
    await cli(['context', 'add', 'lab', one.url], at());
    expect((await cli(['context', 'add', 'prod', two.url, '--use'], at())).out).toContain('it is in use');
    expect((await cli(['context', 'show'], at())).out).toBe(
      `${two.url} (context prod, in use)\n  store     postgres at two, since ${SINCE}\n  Temporal  127.0.0.1:7233, namespace default\n`,
    );
    expect((await cli(['context', 'use', 'lab'], at())).out).toBe(
      `commands speak to ${one.url} (context lab, in use)\n`,
    );
    expect((await cli(['context', 'list', '-f', 'csv'], at())).out).toContain(`lab,true,${one.url},`);
    await cli(['site', 'list'], at());
    expect(one.requests.some(({ at }) => at.startsWith('/sites'))).toBe(true);
    expect(two.requests.some(({ at }) => at.startsWith('/sites'))).toBe(false);
    expect((await cli(['context', 'remove', 'lab'], at())).code).toBe(0);
    expect((await cli(['context', 'list', '-f', 'json'], at())).out).not.toContain('"lab"');
    expect((await cli(['context', 'use', 'pord'], at())).err).toContain("Did you mean 'prod'?");
    expect((await cli(['context', 'use', 'pord'], at())).code).toBe(3);
  });

  it('give way to a flag, then to the environment, and hold before settings', async () => {
    const url = (port: number) => `http://127.0.0.1:${port}`;
    writeFileSync(join(home, 'sitewright.yaml'), 'api: {port: 4}\n');
    for (const [name, port] of [
      ['in-use', 1],
      ['of-environment', 2],
      ['of-flag', 3],
    ] as const)
      await cli(['context', 'add', name, url(port)], at());
    const shown = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
      JSON.parse((await cli(['context', 'show', '-f', 'json', ...args], at(env))).out).url;
    expect(await shown([])).toBe(url(4));
    await cli(['context', 'use', 'in-use'], at());
    expect(await shown([])).toBe(url(1));
    expect(await shown([], { SITEWRIGHT_CONTEXT: 'of-environment' })).toBe(url(2));
    expect(await shown([], { SITEWRIGHT_API: url(5), SITEWRIGHT_CONTEXT: 'of-environment' })).toBe(url(5));
    expect(await shown(['--context', 'of-flag'], { SITEWRIGHT_API: url(5) })).toBe(url(3));
    expect(await shown(['--api', url(6), '--context', 'of-flag'])).toBe(url(6));
    await cli(['context', 'use', '--none'], at());
    expect(await shown([])).toBe(url(4));
    expect((await cli(['--help'])).out).toContain('A flag takes precedence over the environment');
  });

  it('keep a token for their own system only, in a file that only its owner may read', async () => {
    const said: string[] = [];
    const api = await stubApi(() => problem('unauthenticated', 401, 'a token is needed'));
    apis.push(api);
    const answer = await cli(['context', 'add', 'prod', api.url, '--token', '--use'], at({}, { piped: 'sw_secret' }));
    expect(answer.code).toBe(0);
    const file = join(home, '.config', 'sitewright', 'contexts.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain('sw_secret');
    for (const args of [
      ['context', 'list'],
      ['context', 'list', '-f', 'json'],
      ['context', 'show'],
    ]) {
      const { out, err } = await cli(args, at());
      said.push(out, err);
    }
    expect(said.join('')).not.toContain('sw_secret');
  });

  it('name the cluster that owns graphs which are stored without an owner', async () => {
    const named = [
      { id: 1, name: 'lab' },
      { id: 2, name: 'prod' },
    ];
    const api = await stubApi(({ at }) => [200, at === '/clusters' ? named : { id: 1, tasks: [], relations: [] }]);
    apis.push(api);
    await cli(['context', 'add', 'here', api.url, '--use', '--cluster', 'prod'], at());
    writeFileSync(join(home, 'none.json'), '[]');
    const { code, err } = await cli(['graph', 'upload', '-t', 'x', '--file', 'none.json'], at());
    expect([code, api.requests.at(-1)?.at], err).toEqual([0, '/clusters/2/deployment_graphs/x']);
  });

  it('are found in the home folder from every folder, as settings are', async () => {
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(home, '.config', 'sitewright'), { recursive: true });
    writeFileSync(join(home, '.config', 'sitewright', 'sitewright.yaml'), 'api: {port: 7}\n');
    const shown = async (cwd: string) =>
      JSON.parse((await cli(['context', 'show', '-f', 'json'], { env: { HOME: home }, cwd })).out).url;
    expect(await shown('/')).toBe('http://127.0.0.1:7');
    // Settings of the folder hold before those of the home folder.
    writeFileSync(join(home, 'sitewright.yaml'), 'api: {port: 8}\n');
    expect(await shown(home)).toBe('http://127.0.0.1:8');
  });
});

describe('which system answers', () => {
  it('is said where a list has nothing because the system has nothing', async () => {
    const api = await systemApi('sqlite at /other/.sitewright/store.db', true);
    const { err, out } = await cli(['site', 'list', '--api', api.url], at());
    expect(err).toBe(
      `the system at ${api.url} is empty: its store is sqlite at /other/.sitewright/store.db, since ${SINCE}\n`,
    );
    expect(out).not.toContain('other');
  });

  it('is said by a second `up` that finds the address of its API taken', async () => {
    const api = await systemApi('sqlite at /old');
    const { code, err } = await cli(['up'], at({ SITEWRIGHT_API_PORT: new URL(api.url).port }));
    expect(code).toBe(4);
    expect(err).toContain(`a system already runs at ${api.url} (store sqlite at /old, since ${SINCE})`);
  });

  it('is warned about where an empty one starts beside one that runs', async () => {
    const [own, other] = [await systemApi('sqlite at /new', true), await systemApi('sqlite at /old')];
    const warning = await warningBeside(own.url, { env: { HOME: home, SITEWRIGHT_API: other.url } }, false);
    expect(warning).toContain(`this system is new and empty (${own.url} (store sqlite at /new, since ${SINCE}))`);
    expect(warning).toContain(`another system answers at ${other.url} (store sqlite at /old, since ${SINCE})`);
    expect(warning).toContain('sitewright context add NAME URL --use');
    expect(await warningBeside(own.url, { env: { HOME: home } }, true)).toContain(
      'already take work from this Temporal',
    );
    // One that has sites is nobody's mistake.
    expect(await warningBeside(other.url, { env: { HOME: home, SITEWRIGHT_API: own.url } }, true)).toBeUndefined();
  });
});
