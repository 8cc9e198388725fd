import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { parseGraphRunInput } from '../../../src/core/graph-run/input.ts';
import { searchAttributes } from '../../../src/platform/temporal/search-attributes.ts';
import { readComposeFile } from '../../rig/compose-file.ts';
import { recordingTerminal } from '../cli/recording-terminal.ts';

/*
 * Every page for users: each command in it exists, with its options; each link leads somewhere. The tests of each subject
 * run the examples (the pages on graphs, agents, YAQL, packages, tags, REST; the
 * README by .ci/demo and test/e2e/topology.test.ts).
 */
const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
  ...readdirSync(new URL('examples', root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `examples/${file}`),
];
const temporalCommands = JSON.parse(read('test/data/temporal-cli/commands.json')) as Record<string, readonly string[]>;
/** Of servers newer than the CLI that was recorded: listed to distinguish them from ours. */
const NEWER_TEMPORAL = ['workflow pause', 'workflow unpause'];
const packageFile = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

interface Found {
  readonly page: string;
  readonly line: string;
}

/** Lines of shell blocks (joined where they continue), and code in running text that is a command line. */
function commandLines(page: string): string[] {
  const text = read(page);
  const fenced = [...text.matchAll(/^```(?:sh|console|bash)[^\n]*\n([\s\S]*?)^```/gm)].flatMap(([, block]) => {
    const lines = block!.replaceAll('\\\n', ' ').split('\n');
    const prompted = lines.filter((line) => line.startsWith('$ '));
    // In blocks with prompts, lines without one are output.
    return prompted.length > 0 ? prompted.map((line) => line.slice(2)) : lines;
  });
  const inline = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
  return [...fenced, ...inline.filter((code) => /^(?:(?:bin\/)?sitewright|temporal|npm run) \S/.test(code))];
}

/** As a shell splits it; text after a comment, a pipe or a redirection is left to others, and so is the output of other commands. */
function words(line: string): string[] {
  const all = [...line.replace(/\$\([^()]*\)/g, '$OUTPUT').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(
    ([word]) => word,
  );
  const end = all.findIndex((word) => /^(?:#|\\?\||>|<|&&|;)/.test(word));
  const own = (end === -1 ? all : all.slice(0, end)).map((word) => word.replace(/^(['"])(.*)\1$/s, '$2'));
  // Variables before the command.
  return own.slice(own.findIndex((word) => !/^[A-Z_]+=/.test(word)));
}

const found: Found[] = pages.flatMap((page) => commandLines(page).map((line) => ({ page, line })));
const of = (program: RegExp): { readonly page: string; readonly line: string; readonly args: string[] }[] =>
  found.flatMap(({ page, line }) => {
    const all = words(line.replace(/docker compose .*?exec .*?node (?=bin\/sitewright)/, ''));
    return program.test(all[0] ?? '') ? [{ page, line, args: all.slice(1) }] : [];
  });

const optionsIn = (args: readonly string[]): string[] =>
  args.filter((word) => /^--?[a-zA-Z]/.test(word)).map((word) => word.replace(/=.*/s, ''));

describe('the pages', () => {
  it('are found, and have commands', () => {
    expect(pages.length).toBeGreaterThan(12);
    expect(of(/^(bin\/)?sitewright$/).length).toBeGreaterThan(60);
    expect(of(/^temporal$/).length).toBeGreaterThan(15);
  });

  it.each(pages)('%s: every link leads somewhere', (page) => {
    const text = read(page).replace(/^```[\s\S]*?^```/gm, '');
    const bad: string[] = [];
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? new URL(page, root) : new URL(path, new URL(page, root));
      if (!existsSync(file)) bad.push(target);
      else if (anchor !== undefined && !anchorsOf(fileURLToPath(file)).includes(anchor)) bad.push(target);
    }
    expect(bad).toEqual([]);
  });

  it.each(pages)('%s names commands of ours that exist, with options that exist', (page) => {
    const bad = of(/^(bin\/)?sitewright$/)
      .filter((one) => one.page === page)
      .map(({ line, args }) => ({ line, problem: problemOf(args) }));
    expect(bad.filter(({ problem }) => problem !== undefined)).toEqual([]);
  });

  it.each(pages)('%s names commands of Temporal that exist, with options that exist', (page) => {
    const bad = of(/^temporal$/)
      .filter((one) => one.page === page)
      .map(({ line, args }) => ({ line, problem: temporalProblem(args) }));
    expect(bad.filter(({ problem }) => problem !== undefined)).toEqual([]);
  });

  it.each(pages)('%s names scripts of npm, and profiles and services of Compose, that exist', (page) => {
    const mine = found.filter((one) => one.page === page).map(({ line }) => line);
    const scripts = mine.flatMap((line) => [...line.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => name!));
    expect(scripts.filter((name) => !Object.hasOwn(packageFile.scripts, name))).toEqual([]);
    const { services } = readComposeFile();
    const profiles = Object.values(services).flatMap((service) => service.profiles ?? []);
    for (const line of mine.filter((one) => one.includes('docker compose'))) {
      const [, profile] = /--profile (\S+)/.exec(line) ?? [];
      const [, envFile] = /--env-file (\S+)/.exec(line) ?? [];
      const [, service] = /exec (?:--env \S+ )*(\w\S*)/.exec(line) ?? [];
      if (profile !== undefined) expect(profiles).toContain(profile);
      if (envFile !== undefined) expect(existsSync(new URL(envFile, root)), envFile).toBe(true);
      if (service !== undefined) expect(Object.keys(services)).toContain(service);
    }
  });
});

it('the map of folders in docs/explain/architecture.md has exactly the existing folders', () => {
  const [, map = ''] = /^## Folders\n([\s\S]*?)^## /m.exec(read('docs/explain/architecture.md')) ?? [];
  const cells = [...map.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell!);
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([\w/-]+)\/`/g)].map(([, folder]) => folder!));
  const folders = readdirSync(new URL('src', root), { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(folders.map(({ name }) => `src/${name}`).filter((folder) => !named.includes(folder))).toEqual([]);
  expect(named.filter((folder) => !existsSync(new URL(folder, root)))).toEqual([]);
});

it('docs/how-to/operating.md has every search attribute with its type, and the command that creates them', () => {
  const page = read('docs/how-to/operating.md');
  const command = /^temporal operator search-attribute create .*$/m.exec(page)?.[0];
  for (const { name, type } of searchAttributes) {
    expect(page).toContain(`| \`${name}\` | ${type} |`);
    expect(command).toContain(` --name ${name} --type ${type}`);
  }
});

it('docs/how-to/operating.md describes every field of the input of execute_graph', () => {
  const refusal = parseGraphRunInput([{ nothing: 1 }]);
  const known = /known: ([^)]+)/.exec(refusal.ok ? '' : refusal.problems.join())?.[1]?.split(', ') ?? [];
  expect(known).toContain('hold_on_failure');
  // Only the API may read its files there.
  const page = read('docs/how-to/operating.md');
  expect(known.filter((field) => field !== 'transaction' && !page.includes(`\`${field}\``))).toEqual([]);
});

it('docs/reference/terms.md has the words of the code, and the page on Shipyard its actions', () => {
  const terms = read('docs/reference/terms.md');
  for (const word of ['site', 'document', 'revision', 'deployment group', 'cluster', 'release', 'plugin', 'package'])
    expect(terms).toContain(`| **${word}**`);
  for (const word of ['role', 'tag', 'graph', 'task', 'plan', 'run', 'node agent', 'worker', 'gateway', 'order'])
    expect(terms).toContain(`| **${word}**`);
  const shipyard = read('docs/how-to/coming-from-shipyard.md');
  for (const action of [
    'deploy_site',
    'update_site',
    'redeploy_server',
    'test_site',
    'update_software',
    'relabel_nodes',
  ])
    expect(shipyard).toContain(`create action ${action}`);
});

it('every page that a program, a chart or an example names exists', () => {
  const folders = ['src', 'packages', 'workflows', 'activities', 'worker', 'bin', 'scripts', 'deploy', 'examples'];
  const files = execFileSync('git', ['ls-files', ...folders], { cwd: fileURLToPath(root), encoding: 'utf8' })
    .split('\n')
    .filter((file) => /\.(ts|tsx|mjs|js|json|yaml|yml|tpl|md)$/.test(file) && existsSync(new URL(file, root)));
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/(?<![\w/.-])docs\/[\w/-]+(?:\.\w+)?/g)].map(([path]) => ({ file, path })),
  );
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter(({ path }) => !existsSync(new URL(path, root)))).toEqual([]);
});

it('no cell of a table has more than one sentence', () => {
  expect(cellsOf('| a | One. Two. |\n| b | `x. Y` and e.g. this |\n')).toEqual([
    'a',
    'One. Two.',
    'b',
    '`x. Y` and e.g. this',
  ]);
  expect(isLong('One. Two.')).toBe(true);
  expect(isLong('`x. Y` and e.g. this; [a. B](c.md)')).toBe(false);
  const pages = readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith('.md'),
  );
  expect(
    pages.flatMap((one) =>
      cellsOf(read(`docs/${one}`))
        .filter(isLong)
        .map((cell) => `${one}: ${cell}`),
    ),
  ).toEqual([]);
});

/** The cells of all tables of a page, outside of code. */
function cellsOf(page: string): string[] {
  const rows = page
    .replace(/^```[\s\S]*?^```/gm, '')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return rows.flatMap((row) => row.split(/(?<!\\)\|/).slice(1, -1)).map((cell) => cell.trim());
}

/** Whether a text has a sentence that ends before another begins; code and titles of links are words. */
const isLong = (text: string): boolean =>
  /[.!?][)\]*"]*\s+[A-Z[(*]|[.!?] X/.test(text.replace(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, 'X'));

it('a missing link, command or option would be found', () => {
  expect(problemOf(['site', 'deploi', 'dc1'])).toMatch(/deploi/);
  expect(problemOf(['site', 'deploy', 'dc1', '--whait'])).toMatch(/--whait/);
  expect(problemOf(['nothing'])).toMatch(/nothing/);
  expect(problemOf(['site', 'deploy', 'dc1', '--wait', '-f', 'json'])).toBeUndefined();
  expect(temporalProblem(['workflow', 'begin'])).toMatch(/begin/);
  expect(temporalProblem(['workflow', 'start', '--typ', 'x'])).toMatch(/--typ/);
});

/** Headings of a page as links name them. */
function anchorsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const program = await createProgram(recordingTerminal());

/** Why a command line of ours would not be understood; placeholders (`SITE`, `…`) match anything. */
function problemOf(args: readonly string[]): string | undefined {
  let command: Command = program;
  const known: Command[] = [program];
  let at = 0;
  // The program's own options may come first, with their values.
  while (args[at]?.startsWith('-')) at += /^--(api|config|token-file)$/.test(args[at]!) ? 2 : 1;
  while (at < args.length && command.commands.length > 0) {
    const word = args[at]!;
    if (word === '…' || word.startsWith('-')) break;
    // `create|update`: all of them.
    const nexts = word.split('|').map((name) => command.commands.find((one) => one.name() === name));
    const [next] = nexts;
    if (next === undefined || nexts.includes(undefined))
      return `there is no ${[...known.slice(1).map((one) => one.name()), word].join(' ')}`;
    command = next;
    known.push(command);
    at += 1;
  }
  const options = known.flatMap((one) => one.options.flatMap(({ long, short }) => [long, short]));
  const strange = optionsIn(args).filter((option) => !options.includes(option) && !['--help', '-h'].includes(option));
  return strange.length > 0 ? `${known.map((one) => one.name()).join(' ')} has no ${strange.join(', ')}` : undefined;
}

function temporalProblem(args: readonly string[]): string | undefined {
  const path = args.slice(0, args.findIndex((word) => word.startsWith('-') || word === '…') >>> 0).join(' ');
  if (NEWER_TEMPORAL.includes(path)) return undefined;
  const name = Object.keys(temporalCommands).find((one) => path === one || path.startsWith(`${one} `));
  // A group of commands, named as such.
  if (name === undefined) {
    const isGroup = Object.keys(temporalCommands).some((one) => one.startsWith(`${path} `));
    return isGroup && optionsIn(args).length === 0 ? undefined : `there is no temporal ${path}`;
  }
  const strange = optionsIn(args).filter((option) => !temporalCommands[name]!.includes(option));
  return strange.length > 0 ? `temporal ${name} has no ${strange.join(', ')}` : undefined;
}
