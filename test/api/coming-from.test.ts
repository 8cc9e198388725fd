import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { cli } from '../unit/cli/recording-terminal.ts';

/*
 * The pages for people who come from Fuel and Shipyard name Sitewright's commands: each is typed against a living system.
 * Commands of `fuel2` and `fuel` on the page are run by test/e2e/fuel-client.test.ts with the published client.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (page: string): string => readFileSync(join(root, 'docs/how-to', page), 'utf8');

/** Command lines of ours in code of a page, in blocks too; a group alone (`sitewright role …`) names no command. */
const linesOf = (text: string): readonly string[] => [
  ...new Set(
    [...text.matchAll(/`(sitewright [^`\n]+)`|^(sitewright .+)$/gm)]
      .map(([, code, line]) => (code ?? line)!.trim())
      // An installation is here.
      .filter((line) => !line.includes('…') && !line.startsWith('sitewright up')),
  ),
];

let rig: TemporalRig;
let system: LivingCluster;
let folder: string;
let run = '';
const at = (name: string): string => join(folder, name);
const env = () => ({ SITEWRIGHT_API: `http://127.0.0.1:${system.port}`, HOME: folder });
const type = (args: readonly string[]) => cli(args, { cwd: folder, env: env() });
const typed = async (...args: readonly string[]): Promise<string> => {
  const { code, out, err } = await type(args);
  expect(code, `${args.join(' ')}: ${err}`).toBe(0);
  return out;
};

beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
  system = await livingCluster(rig);
  folder = mkdtempSync(join(tmpdir(), 'sitewright-coming-'));
  mkdirSync(join(folder, 'documents'));
  cpSync(join(root, 'examples/first-release'), join(folder, 'release'), { recursive: true });
  cpSync(join(root, 'examples/first-site'), join(folder, 'documents'), { recursive: true });
  // A public site repository in small: a folder a layer.
  const documents = read('../../test/data/cases/airship/layered.yaml').split(/^---$/m).slice(1);
  for (const [layer, which] of Object.entries({ 'type/TYPE/': [0], 'global/': [1], 'site/SITE/': [2, 3, 4] })) {
    mkdirSync(at(layer), { recursive: true });
    writeFileSync(join(at(layer), 'documents.yaml'), which.map((number) => documents[number]!).join('---'));
  }
  await typed('package', 'install', join(folder, 'release'));
  await typed('cluster', 'create', 'lab', '--release', 'first-release');
  await typed('node', 'register', '--name', 'node-1', 'node-2', '--provisioned');
  await system.serveNodes('cluster-1', ['1', '2']);
}, 300_000);
afterAll(async () => {
  await system?.close();
  await rig?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** What stands for something of the reader, and what it is here. */
const OURS: Readonly<Record<string, string>> = {
  ...{ SITE: 'dc1', NODE: 'n1', NODES: 'n1', ID: '1', 'TASK@NODE': 'prepare@1', controller: 'all-in-one' },
};

/** Lines that need what is not here, or an argument of the reader's: with what they answer, which is about that. */
const ELSEWHERE: readonly (readonly [line: RegExp, says: RegExp])[] = [
  [/^sitewright (doctor|package sync)$/, /./],
  [
    /^sitewright (node status|site (redeploy|update|test|deploy)) /,
    /MAAS|maas|revision|deployed|is busy|run .* works|in use|nothing|there is no site "dc1"/i,
  ],
  [/--type network_verification/, /There are no deployment tasks for graph type 'network_verification'/],
  [/^sitewright (graph execute|graph draw|package check|token create)$/, /required|missing|name|give|--cluster/i],
  [/^sitewright run logs /, /has no output/],
  [/^sitewright run stop /, /has ended: success/],
  [/^sitewright token/, /./],
];

describe.each(['coming-from-fuel.md', 'coming-from-shipyard.md'])('docs/how-to/%s', (page) => {
  const lines = linesOf(read(page));

  it('names commands of ours', () => expect(lines.length).toBeGreaterThan(10));

  it.each(lines)('%s', async (line) => {
    const words = line.split(' ').slice(1);
    // The program resolves paths where its process is.
    const given = (word: string): string =>
      ({
        RUN: run,
        FILES: at('documents'),
        FILE: at('file.yaml'),
        FOLDER: at('release'),
        'documents/': at('documents'),
        ...Object.fromEntries(['global/', 'type/TYPE/', 'site/SITE/'].map((layer) => [layer, at(layer)])),
      })[word] ??
      OURS[word] ??
      word;
    const args = words.map(given);
    const asked = words[1] === 'redeploy' ? ['--yes'] : [];
    const { code, out, err } = await type([...args.filter((word) => word !== '--watch'), ...asked]);
    expect(err, line).not.toMatch(/unknown (command|option)|too many arguments|defect|Traceback/);
    const [, says] = ELSEWHERE.find(([known]) => known.test(line)) ?? [];
    if (code === 0 || says === undefined) expect(code, `${line}: ${err}`).toBe(0);
    else expect(`${out}${err}`, line).toMatch(says);
    // The next lines are about a run.
    const [, started] = /started run (\d+)/.exec(out) ?? [];
    if (started === undefined) return;
    run = started;
    // One run at a time works on a cluster.
    await expect.poll(async () => (await system.ask('GET', `/api/v1/runs/${run}`)).body.outcome).not.toBeNull();
  });
});
