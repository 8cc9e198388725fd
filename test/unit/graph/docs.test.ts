import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../../src/cli/shell/run-cli.ts';
import { type FuelRig, fuelRig, newton } from '../../api/fuel-inventory-rig.ts';
import { recordingTerminal } from '../cli/recording-terminal.ts';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/reference/graphs.md', root), 'utf8');
const home = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'graphs-'));

let rig: FuelRig;
let api = '';

/** Runs `sitewright graph …` in this process, against an API with a cluster that has no graph yet; returns the output of both streams, with the exit status if not 0. */
async function run(line: string): Promise<string> {
  let said = '';
  const take = (text: unknown): boolean => {
    said += String(text);
    return true;
  };
  const spies = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  for (const spy of spies) spy.mockImplementation(take);
  try {
    const terminal = recordingTerminal({ env: { SITEWRIGHT_API: api }, cwd: folder });
    const code = await runCli(line.split(/\s+/).slice(1), {
      ...terminal,
      out: take,
      err: take,
      outAll: async (text) => void take(text),
    });
    return code ? `${said}exit status ${code}\n` : said;
  } finally {
    process.exitCode = 0;
    for (const spy of spies) spy.mockRestore();
  }
}

const files = [...page.matchAll(/```json file=(\S+)(?: extends=(\S+))?\n([\s\S]*?)```/g)].map(
  ([, name, base, text]) => ({ name: name!, base, text: text! }),
);
const commands = [...page.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block]) =>
  block!
    .split(/^\$ /m)
    .slice(1)
    .map((one) => ({ line: one.slice(0, one.indexOf('\n')), output: one.slice(one.indexOf('\n') + 1) })),
);

beforeAll(async () => {
  rig = await fuelRig();
  await rig.made('/clusters/', { name: 'lab', release: await rig.made('/releases/', newton) });
  await rig.api.listen({ host: '127.0.0.1', port: 0 });
  api = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
  process.chdir(folder);
  for (const { name, base, text } of files) {
    const whole =
      base === undefined ? text : JSON.stringify({ ...JSON.parse(readFileSync(base, 'utf8')), ...JSON.parse(text) });
    writeFileSync(name, whole);
  }
});
afterAll(async () => {
  await rig.close();
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

describe('docs/reference/graphs.md', () => {
  it('has examples', () => {
    expect(files.length).toBeGreaterThanOrEqual(5);
    expect(commands.length).toBeGreaterThanOrEqual(7);
  });

  it.each(commands)('$line', async ({ line, output }) => {
    expect(await run(line)).toBe(output);
  });

  it('has the next step for every code', () => {
    const sources = ['src/graph/', 'src/cli/commands/'].flatMap((at) =>
      readdirSync(new URL(at, root), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && (at === 'src/graph/' || name.startsWith('graph-')))
        .map((name) => readFileSync(new URL(`${at}${name}`, root), 'utf8')),
    );
    const codes = new Set(
      sources.flatMap((text) => [...text.matchAll(/'(graph\.[a-z-]+)'/g)].map(([, code]) => code!)),
    );
    expect([...codes].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });
});

describe('the commands', () => {
  it('digests of equal inputs are equal, of others not', async () => {
    const digest = async (file: string) => JSON.parse(await run(`sitewright graph serialize --digest --input ${file}`));
    const shop = JSON.parse(readFileSync('shop.json', 'utf8'));
    writeFileSync('same.json', JSON.stringify({ ...shop, tasks: [...shop.tasks].reverse() }));
    shop.tasks[1].parameters.timeout = 601;
    writeFileSync('other.json', JSON.stringify(shop));
    const [one, same, other] = [await digest('shop.json'), await digest('same.json'), await digest('other.json')];
    expect(same).toEqual(one);
    expect(other.sha256).not.toBe(one.sha256);
    expect(other.by_node['2']).toEqual(one.by_node['2']);
    expect(other.by_node['1'].sha256).not.toBe(one.by_node['1'].sha256);
  });

  it('a cycle is refused by plan, and reported by serialize, which shows the input of executors', async () => {
    const shop = JSON.parse(readFileSync('shop.json', 'utf8'));
    shop.tasks[1].requires = ['database2'];
    shop.tasks.push({ ...shop.tasks[1], id: 'database2', requires: ['database'] });
    writeFileSync('circular.json', JSON.stringify(shop));
    expect(await run('sitewright graph plan --input circular.json')).toMatch(
      /error\[graph\.cycle\].*database@1 -> database2@1 -> database@1[\s\S]*exit status 2\n$/,
    );
    expect(await run('sitewright graph serialize --input circular.json')).toMatch(
      /warning\[graph\.cycle\][\s\S]*"tasks_graph"/,
    );
  });

  it('a refusal names file, line and column', async () => {
    writeFileSync(
      'bad.json',
      '{\n  "tasks": [\n    {"id": "a", "type": "noop",\n     "roles": ["/(/"]}\n  ],\n  "cluster": {}\n}',
    );
    expect(await run('sitewright graph serialize --input bad.json')).toMatch(
      /^bad\.json:4:16: error\[graph\.bad-regex\]: tasks\[0\]\.roles\[0\]: /,
    );
    writeFileSync('broken.json', '{"tasks": [}');
    expect(await run('sitewright graph serialize --input broken.json')).toMatch(
      /^broken\.json:1:12: error\[graph\.bad-json\].*\n {2}1 \| .*\n {4}\| +\^\n.*\n\n1 error\nexit status 2\n$/,
    );
    writeFileSync('deep.json', `{"tasks": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    expect(await run('sitewright graph serialize --input deep.json')).toMatch(
      /^deep\.json:1:\d+: error\[graph\.bad-json\].*levels deep/,
    );
    expect(await run('sitewright graph serialize --input none.json')).toMatch(
      /^error: none\.json: .+\n[\s\S]*exit status 3\n$/,
    );
  });

  it('a task with mistakes hides neither its cycle nor unknown names', async () => {
    const lines = [
      '- { id: a, type: shell, requires: [c], parametres: { cmd: x } }',
      '- { id: b, type: shell, requires: [a, typo], parameters: { cmnd: x } }',
      '- { id: c, type: shell, requires: [b], parameters: { cmd: x } }',
      '- { id: d, type: bogus, requires: [b], cross-depends: [{ name: gone }] }',
    ];
    writeFileSync('mistakes.yaml', lines.join('\n'));
    const said = await run('sitewright graph check --input mistakes.yaml');
    expect(said).toContain('a -> b -> c -> a');
    expect(said).toContain("no task is named 'typo'; referenced by b\n  2 | ");
    // The excerpt shows the key that is meant, not its value.
    const pointedAt = (line: number, word: string) => {
      const text = lines[line - 1]!;
      return `  ${line} | ${text}\n    | ${' '.repeat(text.indexOf(word))}^${'~'.repeat(word.length - 1)}\n`;
    };
    expect(said).toContain(`${pointedAt(1, 'parametres')}  hint: Did you mean 'parameters'?`);
    expect(said).toContain(`${pointedAt(2, 'cmnd')}  hint: Did you mean 'cmd'?`);
    expect(said).toContain(pointedAt(2, 'typo'));
    expect(said).toContain('unknown task type "bogus"');
    // All tasks are there.
    expect(said).not.toMatch(/no task is named '[a-d]'/);
    expect(said).not.toContain(': : ');
  });

  it('a drawing of unknown tasks is refused', async () => {
    expect(await run('sitewright graph draw --input layers.json --tasks zzz')).toContain(
      'Tasks zzz are not present in deployment graph',
    );
    expect(await run('sitewright graph draw --input layers.json --parents-for zzz')).toContain(
      'Task zzz is not present in graph',
    );
    expect(await run('sitewright graph draw --input layers.json --remove puppet')).toContain(
      'Task types puppet do not exist',
    );
  });
});
