import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { cliReference } from '../../../scripts/reference/cli.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { DEFAULT_API } from '../../../src/cli/shell/api-address.ts';
import { EXIT, EXIT_MEANINGS, exitCodeOfStatus } from '../../../src/cli/shell/exit-codes.ts';
import { PROBLEM_CODES } from '../../../src/ops/problem.ts';
import { settingDefinitions } from '../../../src/platform/settings/settings.ts';
import { recordingTerminal } from './recording-terminal.ts';

const text = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8');
const program = await createProgram(recordingTerminal());

function leaves(command: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    const name = [...path, child.name()];
    return child.commands.length > 0 ? leaves(child, name) : [{ path: name.join(' '), command: child }];
  });
}

/** The section of a top-level command: options are described there, or in the part for every command. */
function sectionOf(name: string): string {
  const [before = '', ...sections] = text.split(/^## /m);
  const own = sections.filter((section) => new RegExp(`\\b${name}\\b`).test(section.split('\n')[0]!));
  const common = sections.find((section) => section.startsWith('For every command'));
  return [before, common, ...own].join('\n');
}

describe('docs/reference/cli.md', () => {
  const commands = leaves(program);
  it('is generated from the declarations (npm run docs:cli)', () => expect(text).toBe(cliReference(program)));

  it('has commands', () => expect(commands.length).toBeGreaterThan(35));

  it.each(commands.map(({ path, command }) => [path, command] as const))('describes %s', (path, command) => {
    const [top = '', sub] = path.split(' ');
    const section = sectionOf(top);
    if (sub !== undefined) expect(section).toMatch(new RegExp(`^### .*\`${path}[ \`]`, 'm'));
    else expect(text).toMatch(new RegExp(`^## (.*\\b)?${top}\\b`, 'm'));
    for (const { long } of command.options.filter((one) => !one.hidden))
      expect(section, `${path} ${long}`).toContain(long);
  });

  it('describes the options of the program', () => {
    for (const { long } of program.options) expect(text).toContain(long);
  });

  it('names no option that does not exist', () => {
    const known = new Set(
      [...commands.map(({ command }) => command), program].flatMap((c) => c.options.map((o) => o.long)),
    );
    const named = new Set([...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => option));
    expect([...named].filter((option) => !known.has(option) && option !== '--help')).toEqual([]);
  });

  it('lists every exit code', () => {
    const table = new Map(
      [...text.matchAll(/^\| (\d+) \| ([^|]+) \|$/gm)].map(([, code, meaning]) => [
        Number(code),
        meaning!.toLowerCase(),
      ]),
    );
    const codes = [...new Set(Object.values(EXIT))];
    expect([...table.keys()]).toEqual(codes);
    expect([...EXIT_MEANINGS.keys()]).toEqual(codes);
    for (const [code, meaning] of EXIT_MEANINGS) {
      const said = table.get(code)!.replaceAll(/[^a-z ]/g, '');
      const [first = ''] = meaning
        .replaceAll(/[^a-z ]/g, '')
        .split(' ')
        .toReversed();
      expect([code, said.includes(first) || said.includes(meaning.split(' ')[0]!)]).toEqual([code, true]);
    }
  });
});

describe('-f', () => {
  /** Why a command has no section, or another. */
  const SERVES = 'runs until it is ended, and prints nothing that is data';
  const LINES = 'prints one line of JSON for each line of input';
  const OTHERS = new Map([
    ...['up', 'api', 'worker', 'gateway', 'guard-ui', 'agent run', 'agent serve', 'maas simulate', 'mcp'].map(
      (name) => [name, SERVES],
    ),
    ...['graph simulate', 'strategy simulate', 'yaql eval'].map((name) => [name, LINES]),
    ['graph serialize', 'prints the one form that executors take, piece by piece'],
    ['yaql console', 'is a conversation'],
    ['yaql functions', 'prints documentation'],
    ['demo', 'tells a story'],
    ['completion', 'prints a script of a shell'],
  ] as [string, string][]);

  it.each(leaves(program).map(({ path, command }) => [path, command] as const))(
    'is the format of %s',
    (path, command) => {
      const short = command.options.find((option) => option.short === '-f')?.long;
      const format = command.options.find(({ long }) => long === '--format');
      if (OTHERS.has(path)) expect([format, short]).toEqual([undefined, undefined]);
      else expect(short).toBe('--format');
    },
  );
});

it('every command named in a message or a document exists', () => {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const files = execFileSync(
    'git',
    ['ls-files', 'src', 'packages', 'worker', 'activities', 'docs', 'README.md', 'examples'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  ).split('\n');
  // A group within a group is known by its own path, too.
  const known = new Set(leaves(program).flatMap(({ path }) => [path, path.split(' ').slice(0, 2).join(' ')]));
  const groups = new Set(program.commands.filter(({ commands }) => commands.length > 0).map((group) => group.name()));
  const named = files
    .filter((file) => /\.(ts|md)$/.test(file) && existsSync(root + file))
    .flatMap((file) =>
      // In quotes, backticks, after a prompt, or as the next step of a message.
      [
        ...readFileSync(root + file, 'utf8').matchAll(
          /(?<=['"`$] ?|: {1,2})sitewright ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g,
        ),
      ].map(([, top = '', sub = '']) => ({ file, top, path: groups.has(top) ? `${top} ${sub}`.trim() : top })),
    );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ path, top }) => !known.has(path) && path !== top)).toEqual([]);
  expect(named.filter(({ top }) => !known.has(top) && !groups.has(top))).toEqual([]);
});

it('every command and option has a description', () => {
  for (const { path, command } of leaves(program)) {
    expect(command.description(), path).not.toBe('');
    for (const option of command.options) expect(option.description, `${path} ${option.flags}`).not.toBe('');
  }
});

it('the exit codes of answers are those of the problems of use cases', () => {
  for (const [code, { status, exit }] of Object.entries(PROBLEM_CODES))
    expect([code, exitCodeOfStatus(status)]).toEqual([code, exit]);
});

it('the default address of the API is that of the settings', () => {
  const value = (path: string) => settingDefinitions.find((setting) => setting.path === path)?.defaultValue;
  expect(DEFAULT_API).toEqual({ host: value('api.host'), port: value('api.port') });
});
