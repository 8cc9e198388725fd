import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { CliCommand } from '../../../src/cli/shell/command.ts';
import { leavesOf, whyNotTaken } from './parsed-line.ts';
import { cli, recordingTerminal } from './recording-terminal.ts';

const program = await createProgram(recordingTerminal());
const commands = leavesOf(program);

const examplesOf = (command: unknown) => (command instanceof CliCommand ? command.examples() : []);

describe('--help', () => {
  it('has an example of every command, which is one of this command', () => {
    expect(commands.length).toBeGreaterThan(150);
    const wrong = commands.filter(
      ({ path, command }) =>
        examplesOf(command).length === 0 ||
        !examplesOf(command).every(({ line }) => `${line} `.startsWith(`sitewright ${path} `)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('shows them', async () => {
    const { out } = await cli(['site', 'commit', '--help']);
    expect(out).toMatch(/\nExamples:\n {2}\$ sitewright site commit dc1 documents\/ .+# .+\n/);
  });

  it('of a group shows some of its commands', async () => {
    expect((await cli(['cluster', '--help'])).out).toContain('Examples:\n  $ sitewright cluster list\n');
  });
});

it('every example of the help is one that the program takes', async () => {
  const wrong: string[] = [];
  for (const { command } of commands)
    for (const { line } of examplesOf(command)) {
      const why = await whyNotTaken(line.replace(/^sitewright /, ''));
      if (why !== undefined) wrong.push(`${line}: ${why}`);
    }
  expect(wrong).toEqual([]);
});

describe('an option', () => {
  const shown = commands.flatMap(({ path, command }) =>
    [...command.options, ...program.options].filter((one) => !one.hidden).map((one) => ({ path, one })),
  );

  it('that is short has one meaning in all commands', () => {
    const meanings = new Map<string, Set<string>>();
    for (const { one } of shown)
      if (one.short) meanings.set(one.short, (meanings.get(one.short) ?? new Set()).add(one.long ?? ''));
    expect(meanings.size).toBeGreaterThan(8);
    expect([...meanings].filter(([, longs]) => longs.size > 1)).toEqual([]);
  });

  it('takes a value in all commands, or in none', () => {
    const takes = (one: (typeof shown)[number]['one']): boolean => one.required || one.optional;
    const mixed = shown.filter(({ one }) =>
      shown.some(({ one: other }) => other.long === one.long && takes(other) !== takes(one)),
    );
    expect(mixed.map(({ path, one }) => `${path} ${one.long}`)).toEqual([]);
  });

  it('is called --cluster, --node and --dir where it is one, whatever Fuel calls it', () => {
    const names = new Set(shown.map(({ one }) => one.long));
    for (const other of ['--env', '--nodes', '--names', '--statuses', '--directory', '--on', '--tags'])
      expect(names).not.toContain(other);
  });

  it.each([
    'graph list --env 1 --cluster --plugins',
    'graph upload -e 1 --file tasks.yaml',
    'graph download --env 1 --release --type default',
    'graph execute --env 1 --type default --node 1 2',
    'cluster add-nodes 1 --nodes 1 2 --roles controller',
    'history show 1 --statuses failed',
  ])('is taken in the words of Fuel’s client: %s', async (line) => expect(await whyNotTaken(line)).toBeUndefined());
});

describe('a verb', () => {
  /** Other words for what `delete` (a thing that is kept), `remove` (from where it was added) and `revoke` (a right) say. */
  const SYNONYMS = /^(forget|drop|destroy|erase|purge|rm|unregister|discard)/;
  it('has one word for one thing', () => {
    expect(commands.map(({ path }) => path).filter((path) => SYNONYMS.test(path.split(' ').at(-1)!))).toEqual([]);
    const verbs = new Set(commands.map(({ path }) => path));
    const removing = [...verbs].filter((path) => / remove$/.test(path));
    expect(removing.length).toBeGreaterThan(0);
    for (const path of removing) {
      const group = path.slice(0, -' remove'.length);
      expect([path, verbs.has(`${group} install`) || verbs.has(`${group} add`)]).toEqual([path, true]);
    }
  });
});
