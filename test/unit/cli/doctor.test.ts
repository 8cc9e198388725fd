import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { asApiSees } from '../../../src/cli/commands/doctor.ts';
import { runCli } from '../../../src/cli/shell/run-cli.ts';
import { given } from '../../../src/core/data/given.ts';
import type { Finding } from '../../../worker/doctor.ts';
import { recordingTerminal } from './recording-terminal.ts';

const env = {
  SITEWRIGHT_STORE_URL: 'sqlite::memory:',
  SITEWRIGHT_API: 'http://127.0.0.1:9',
  SITEWRIGHT_TEMPORAL_ADDRESS: '127.0.0.1:9',
};

/** In a process of its own, as the programs load modules. */
const doctor = (more: Readonly<Record<string, string>>): Promise<string> =>
  new Promise((done) => {
    const program = fileURLToPath(new URL('../../../bin/sitewright', import.meta.url));
    const args = [program, 'doctor', '--format', 'json'];
    execFile(process.execPath, args, { env: { ...process.env, ...env, ...more } }, (_failed, out) => done(out));
  });

it('the doctor shows a warning with its fix', async () => {
  const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_SOTRE_URL: 'x' } });
  await runCli(['doctor'], terminal);
  expect(terminal.said.out).toMatch(
    /^warn {2}settings +.*SITEWRIGHT_SOTRE_URL.*\n +fix: See docs\/reference\/settings\.md/m,
  );
});

it.each([
  [
    'yaql.helpers',
    'SITEWRIGHT_YAQL_HELPERS',
    "export const helpers = [{ name: 'fqdn', parameters: [], implementation() {} }];",
  ],
  [
    'tags.extensions',
    'SITEWRIGHT_TAGS_EXTENSIONS',
    "export const extension = { name: 'spread', assignTags() { return []; } };",
  ],
])(
  'the doctor loads the module of %s, and reports one that cannot be loaded or has nothing',
  async (setting, variable, text) => {
    const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
    try {
      const found = async (file: string, source?: string) => {
        const path = join(folder, file);
        if (source !== undefined) writeFileSync(path, source);
        const out = await doctor({ [variable]: path });
        const findings = JSON.parse(out) as { name: string; state: string; message: string; fix?: string }[];
        return findings.find(({ name }) => name === setting);
      };
      const language =
        "import { optional } from 'sitewright/yaql';\nif (typeof optional !== 'function') throw new Error();\n";
      expect(await found('good.mjs', `${language}${text}`)).toMatchObject({
        state: 'ok',
        message: expect.stringMatching(/fqdn|spread/),
      });
      const fails = { state: 'fail', fix: expect.stringContaining(setting) };
      expect(await found('nowhere.mjs')).toMatchObject(fails);
      expect(await found('empty.mjs', '')).toMatchObject(fails);
      const needy = await found('needy.mjs', `import 'left-pad-of-mine';\n${text}`);
      expect(needy).toMatchObject({ ...fails, message: expect.stringContaining('left-pad-of-mine') });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

describe('beside an API, which checks what it uses, the doctor', () => {
  const unset: Finding = {
    name: 'maas',
    state: 'fail',
    message: 'MAAS is not configured: set maas.url',
    isUnset: true,
  };
  const away: Finding = { name: 'maas', state: 'fail', message: 'MAAS cannot be reached' };
  it.each<[string, Finding, object, string, string | undefined]>([
    ['shows a MAAS that works', unset, { ok: true, message: 'MAAS 3.8.0' }, 'ok', undefined],
    ['shows its limits', unset, { ok: true, message: 'MAAS 3.8.0', warning: 'no image' }, 'warn', undefined],
    [
      'shows a MAAS that fails',
      unset,
      { ok: false, message: 'MAAS refused the key', fix: 'Give it a key.' },
      'fail',
      undefined,
    ],
    ['remarks that it cannot reach a working one', away, { ok: true, message: 'MAAS 3.8.0' }, 'ok', away.message],
  ])('%s', (_what, own, check, state, remark) => {
    const seen = { name: 'maas', ...check } as Parameters<typeof asApiSees>[1]['checks'][number];
    const found = asApiSees(own, { checks: [seen] });
    expect(found).toMatchObject({ name: 'maas', state, ...given({ fix: seen.fix }) });
    expect(found.message).toContain(seen.message);
    expect(found.message).not.toContain(unset.message);
    if (remark !== undefined) expect(found.message).toContain(remark);
  });

  it('says what it finds itself where the API says nothing', () => {
    expect(asApiSees(unset, { checks: [] })).toBe(unset);
  });
});

it('the doctor warns of a MAAS that works, and gets the key in clear', async () => {
  const answers: Record<string, string> = {
    'version/': '{"version": "3.6.5", "capabilities": []}',
    'users/': '{"username": "admin", "is_superuser": true}',
    'boot-resources/': '[{"id": 1, "name": "ubuntu/jammy", "architecture": "amd64/ga-22.04"}]',
  };
  const maas = createServer(({ url = '' }, response) =>
    response.end(answers[/\/api\/2\.0\/([^?]*)/.exec(url)?.[1] ?? ''] ?? '[]'),
  );
  await new Promise<void>((done) => maas.listen(0, '127.0.0.1', done));
  try {
    const { port } = maas.address() as AddressInfo;
    const stateAt = async (host: string) => {
      const url = `http://${host}:${port}/MAAS`;
      const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_MAAS_URL: url, SITEWRIGHT_MAAS_KEY: 'a:b:c' } });
      await runCli(['doctor', '--format', 'json'], terminal);
      const findings = JSON.parse(terminal.said.out) as { name: string; state: string; fix?: string }[];
      return findings.find(({ name }) => name === 'maas');
    };
    expect(await stateAt('127.0.0.1')).toMatchObject({ state: 'ok' });
    // An address of this machine by another name.
    expect(await stateAt('0.0.0.0')).toMatchObject({ state: 'warn', fix: expect.stringContaining('https') });
  } finally {
    maas.closeAllConnections();
    maas.close();
  }
});

it.each([
  ['with a password', 'http://u:hunter2@127.0.0.1:9/MAAS'],
  ['with a password of nobody', 'http://:hunter2@127.0.0.1:9/MAAS'],
  ['with a query', 'http://127.0.0.1:9/MAAS?x=1'],
])('an address of MAAS %s is a problem of the settings, and not shown', async (_what, url) => {
  const terminal = recordingTerminal({ env: { ...env, SITEWRIGHT_MAAS_URL: url, SITEWRIGHT_MAAS_KEY: 'a:b:c' } });
  expect(await runCli(['maas', 'check', '--direct', '--format', 'json'], terminal)).toBe(5);
  expect(JSON.parse(terminal.said.err)).toMatchObject({ code: 'maas-not-configured' });
  const { out } = terminal.said;
  await runCli(['doctor', '--format', 'json'], terminal);
  const findings: Finding[] = JSON.parse(terminal.said.out.slice(out.length));
  expect(findings.find(({ name }) => name === 'maas')).toMatchObject({ state: 'fail' });
  await runCli(['config', 'show'], terminal);
  expect(terminal.said.out + terminal.said.err).not.toContain('hunter2');
});
