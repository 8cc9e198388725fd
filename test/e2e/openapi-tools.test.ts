import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiAlone } from '../api/api-rig.ts';
import { npmPackage, pythonPackage } from '../rig/published-tools.ts';

/* The description of the API, read by programs of others: a linter and a generator of clients. */

const spectral = await npmPackage('@stoplight/spectral-cli', '6.16.3');
const generator = await pythonPackage('openapi-python-client', '0.29.1');
for (const found of [spectral, generator]) if (!found.ok) console.log(`skipped: ${found.reason}`);

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-openapi-'));
  const rig = await apiAlone();
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify((await rig.ask('GET', '/openapi.json')).body));
  writeFileSync(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
  await rig.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a program prints, whatever its exit code. */
const output = (program: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(program, [...args], { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (_error, out, err) =>
      resolve(`${out}${err}`),
    );
  });

it.skipIf(!spectral.ok)('spectral finds no error, and no operation without a description', async () => {
  const bin = join((spectral as { folder: string }).folder, 'node_modules/.bin/spectral');
  const findings = JSON.parse((await output(bin, ['lint', 'openapi.json', '-f', 'json', '--quiet'])) || '[]') as {
    readonly code: string;
    readonly severity: number;
    readonly path: readonly string[];
  }[];
  // Fuel's clients send some paths with a slash at the end, and there is no address to write to.
  const known = ['path-keys-no-trailing-slash', 'info-contact'];
  expect(findings.filter(({ code }) => !known.includes(code))).toEqual([]);
  expect(findings.filter(({ severity }) => severity === 0)).toEqual([]);
});

it.skipIf(!generator.ok)('openapi-python-client makes a client of all of it', async () => {
  const { python } = generator as { python: string };
  const program = join(dirname(python), 'openapi-python-client');
  const said = await output(program, ['generate', '--path', 'openapi.json', '--meta', 'none', '--output-path', 'made']);
  expect(said).not.toMatch(/WARNING parsing|ERROR|Unsupported|Traceback|omitted/);
  expect(existsSync(join(folder, 'made/api/sites/list_sites.py')), said).toBe(true);
  const used = await output(python, [
    '-c',
    'from made import Client; from made.api.sites import list_sites; print(Client)',
  ]);
  expect(used).toContain("<class 'made.client.Client'>");
});
