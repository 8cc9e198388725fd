import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';

/** A folder that someone else wrote, or filled: a clone, an unpacked archive, a place where everyone may write. */
describe('sitewright.yaml of the working folder', () => {
  let folder: string;
  let listener: Server;
  let address: { readonly host: string; readonly port: number };
  let received: (string | undefined)[];
  const token = 'swt_01ARZ3NDEKTSV4RRFFQ69G5FAV_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq';

  beforeAll(async () => {
    listener = createServer((request, response) => {
      received.push(request.headers.authorization);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    address = { host: '127.0.0.1', port: (listener.address() as AddressInfo).port };
  });
  afterAll(() => void listener.close());
  beforeEach(() => {
    received = [];
    folder = mkdtempSync(join(tmpdir(), 'sitewright-folder-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = () => join(folder, 'sitewright.yaml');
  const write = (settings: object) => writeFileSync(file(), JSON.stringify(settings), { mode: 0o600 });
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => cli(args, { cwd: folder, env });

  const nobody = 65_534;
  it.each<[string, () => void]>([
    ['others may write it', () => chmodSync(file(), 0o602)],
    ['a group may write it', () => chmodSync(file(), 0o620)],
    ['others may write its folder', () => chmodSync(folder, 0o702)],
    ['others may write its folder, and only add to it', () => chmodSync(folder, 0o1777)],
    [
      'it is a link into a folder where others may write',
      () => {
        const open = join(folder, 'open');
        mkdirSync(open);
        writeFileSync(join(open, 'x.yaml'), '{}');
        rmSync(file());
        symlinkSync(join(open, 'x.yaml'), file());
        chmodSync(open, 0o777);
      },
    ],
    ...(process.getuid?.() === 0
      ? ([
          ['it belongs to another user', () => chownSync(file(), nobody, nobody)],
          ['its folder belongs to another user', () => chownSync(folder, nobody, nobody)],
        ] satisfies [string, () => void][])
      : []),
  ])('is not used where %s, and what to type is said', async (_where, open) => {
    write({ api: address });
    open();
    const { code, err } = await run(['site', 'list']);
    expect(code).toBe(2);
    expect(err).toContain('--config');
    expect(received).toEqual([]);
    const problem = JSON.parse((await run(['site', 'list', '-f', 'json'])).err);
    expect(problem.errors.map(({ code: one }: { code: string }) => one)).toEqual(['settings.foreign-file']);
    // Named, it is used; and what needs no settings needs no file.
    expect((await run(['--config', file(), 'config', 'show'])).code).toBe(0);
    await run(['--api', `http://127.0.0.1:${address.port}`, 'site', 'list']);
    expect(received).toHaveLength(1);
  });

  it('gets no token from the environment or a file for the address that it names', async () => {
    write({ api: address });
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, token, { mode: 0o600 });
    for (const [args, env] of [
      [['site', 'list'], { SITEWRIGHT_TOKEN: token }],
      [['--token-file', tokenFile, 'site', 'list'], {}],
    ] as const) {
      const { code, err } = await run(args, env);
      expect(code).toBe(2);
      expect(err).toContain('SITEWRIGHT_API');
      expect(err).not.toContain(token);
    }
    expect(received).toEqual([]);
    // Without one, the address is used; and whoever names it binds the token to it.
    await run(['site', 'list']);
    const named = `http://127.0.0.1:${address.port}`;
    await run(['site', 'list'], { SITEWRIGHT_TOKEN: token, SITEWRIGHT_API: named });
    await run(['--config', file(), 'site', 'list'], { SITEWRIGHT_TOKEN: token });
    expect(received).toEqual([undefined, `Bearer ${token}`, `Bearer ${token}`]);
  });

  it('gets no key of MAAS from the environment for the address that it names', async () => {
    write({ maas: { url: 'http://maas.example/MAAS' } });
    const env = { SITEWRIGHT_MAAS_KEY: 'a:b:c' };
    const codes = async (args: readonly string[], more = {}) =>
      JSON.parse((await run([...args, '-f', 'json'], { ...env, ...more })).err || '{"errors":[]}').errors.map(
        (problem: { code: string }) => problem.code,
      );
    expect(await codes(['config', 'show'])).toEqual(['settings.foreign-address']);
    expect(await codes(['config', 'show'], { SITEWRIGHT_MAAS_URL: 'http://maas.example/MAAS' })).toEqual([]);
    expect(await codes(['--config', file(), 'config', 'show'])).toEqual([]);
  });

  it('sends no file of ours that it names as a secret, be it by a link of the folder', async () => {
    const home = mkdtempSync(join(tmpdir(), 'sitewright-home-'));
    writeFileSync(join(home, 'key'), 'a:b:c', { mode: 0o600 });
    symlinkSync(join(home, 'key'), join(folder, 'link'));
    writeFileSync(join(folder, 'own'), 'a:b:c', { mode: 0o600 });
    const codesWith = async (settings: object, ...args: string[]) => {
      write(settings);
      const { err } = await run([...args, 'config', 'show', '-f', 'json']);
      return err === '' ? [] : JSON.parse(err).errors.map(({ code }: { code: string }) => code);
    };
    const url = 'http://maas.example/MAAS';
    for (const settings of [
      { maas: { url, key_file: join(home, 'key') } },
      { maas: { url, key_file: 'link' } },
      { temporal: { api_key_file: `../${basename(home)}/key` } },
      { secrets: { directory: home } },
    ]) {
      expect(await codesWith(settings)).toEqual(['settings.foreign-secret']);
      expect(await codesWith(settings, '--config', file())).toEqual([]);
    }
    expect(await codesWith({ maas: { url, key_file: 'own' } })).toEqual([]);
    rmSync(home, { recursive: true });
  });

  it.each(['yaql', 'tags'])('runs no module that it names for %s, unless it is named itself', async (section) => {
    const ran = join(folder, 'ran');
    const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(ran)}, ''); export const helpers = [], extensions = [];`;
    writeFileSync(join(folder, 'evil.mjs'), code);
    write({ [section]: { [section === 'yaql' ? 'helpers' : 'extensions']: './evil.mjs' } });
    for (const args of [
      ['yaql', 'eval', '1 + 1'],
      ['yaql', 'functions'],
      ['config', 'show'],
    ]) {
      const { code, err } = await run(args);
      expect([code, existsSync(ran)]).toEqual([2, false]);
      expect(err).toContain('--config');
    }
    const named = await run(['--config', file(), 'yaql', 'eval', '1 + 1']);
    expect([named.code, existsSync(ran)]).toEqual([0, section === 'yaql']);
  });
});
