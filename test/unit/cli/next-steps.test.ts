import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  CREATE_TOKEN,
  continueRun,
  createTicket,
  reportOfRun,
  runAgain,
  showTasks,
  watchRun,
} from '../../../src/core/next-steps.ts';
import { whyNotTaken } from './parsed-line.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Texts of the program: what stands between quotes, with an example for each value in it. */
const textsIn = (source: string): string[] => {
  const plain = source
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line))
    .join('\n')
    .replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '1');
  return plain.split('\n');
};

/** Commands in a text that are marked as such: in quotes, or at its end after a colon or two blanks. */
const commandsIn = (line: string): string[] =>
  [
    ...line.matchAll(/['‘`]sitewright ([a-z][^'’`]*)['’`]/g),
    ...line.matchAll(/(?:: |: {2,}|^ *['"`] *|: {1,3})sitewright ([a-z][^'"`\\.;(]*)/g),
  ]
    .map(([, command]) => command!.replace(/ {2,}#.*$| > .*$|\\.*$/, '').trim())
    // A verb of a table: `run pause|resume|…`.
    .filter((command) => !/^\w+ 1( |$)/.test(command));

const found = ['src', 'activities', 'workflows', 'worker'].flatMap((folder) =>
  readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) =>
      textsIn(readFileSync(`${root}/${folder}/${file}`, 'utf8'))
        .flatMap(commandsIn)
        .map((command) => [`${folder}/${file}`, command] as const),
    ),
);

it('is checked as the command line does', async () => {
  expect(await whyNotTaken('run wach 1')).toContain('wach');
  expect(await whyNotTaken('graph execute --form 7')).toContain("unknown option '--form'");
  expect(await whyNotTaken('token create')).toContain("required option '--name <name>' not specified");
  expect(await whyNotTaken('run report')).toContain("missing required argument 'run'");
});

it('every next step that several parts tell is one that the program takes', async () => {
  const steps = [
    CREATE_TOKEN,
    createTicket('dc1', '3'),
    ...[continueRun, runAgain, showTasks, watchRun, reportOfRun].map((step) => step(7)),
  ];
  for (const step of steps)
    expect([step, await whyNotTaken(step.replace(/^sitewright /, ''))]).toEqual([step, undefined]);
});

it('every command that a text of the program tells is one that the program takes', async () => {
  expect(found.length).toBeGreaterThan(60);
  const wrong: string[] = [];
  for (const [file, command] of found) {
    const why = await whyNotTaken(command);
    if (why !== undefined) wrong.push(`${file}: sitewright ${command}: ${why}`);
  }
  expect(wrong).toEqual([]);
});
