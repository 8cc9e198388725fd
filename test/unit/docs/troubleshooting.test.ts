import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { planningFailure } from '../../../src/core/graph-run/failure.ts';
import { TASK_FAILURES, TASK_OUTCOMES } from '../../../src/core/graph-run/task-end.ts';
import { runFailure } from '../../../src/core/site-run/failure.ts';
import { pascalCase } from '../../../src/core/text/casing.ts';
import { PROBLEM_CODES } from '../../../src/ops/problem.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const page = read('docs/reference/troubleshooting.md');

/** The rows of the table below a heading: the names in their first cells. */
function namedUnder(heading: string): Set<string> {
  const section = page.split(/^## /m).find((one) => one.startsWith(heading)) ?? '';
  const cells = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell!);
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)));
}

/** Variants of a discriminated union, from its source: types do not exist at run time. */
const kindsIn = (path: string, pattern = /readonly kind: '([a-z-]+)'/g): string[] => [
  ...new Set([...read(path).matchAll(pattern)].map(([, kind]) => kind!)),
];

const missing = (kinds: readonly string[], heading: string): string[] => {
  expect(kinds.length, heading).toBeGreaterThan(3);
  const named = namedUnder(heading);
  return kinds.filter((kind) => !named.has(kind));
};

it('troubleshooting has every code of the use cases and of HTTP', () => {
  const http = /const HTTP_CODES = \{([\s\S]*?)\n\}/.exec(read('src/api/problems/http-problem.ts'))?.[1] ?? '';
  const own = [...http.matchAll(/^ {2}'?([a-z-]+)'?: \{/gm)].map(([, code]) => code!);
  expect(own.length).toBeGreaterThan(4);
  expect(missing([...Object.keys(PROBLEM_CODES), ...own], 'Answers')).toEqual([]);
});

it('troubleshooting has every code of the command line', () => {
  const files = readdirSync(new URL('src/cli', root), { recursive: true, encoding: 'utf8' });
  const codes = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...read(`src/cli/${file}`).matchAll(/code: '([a-z-]+)'/g)].map(([, code]) => code!));
  expect(missing([...new Set(codes)], 'Answers')).toEqual([]);
});

it('troubleshooting has every failure of runs', () => {
  const answered = [...runFailure.def.options, ...planningFailure.def.options].flatMap(
    ({ shape }) => shape.kind.def.values,
  );
  const kinds = [...new Set([...answered, ...kindsIn('src/core/graph-run/failure.ts')])];
  expect(missing(kinds.map(pascalCase), 'Runs')).toEqual([]);
});

it('troubleshooting has every failure of groups, nodes and tasks', () => {
  expect(missing(kindsIn('src/core/deployment/failures.ts'), 'Groups')).toEqual([]);
  expect(missing(kindsIn('packages/maas/src/machine-outcome.ts'), 'Nodes')).toEqual([]);
  const bad = TASK_OUTCOMES.filter((one) => one !== 'success');
  expect(missing([...bad, ...TASK_FAILURES, 'blocked'], 'Tasks')).toEqual([]);
});

it('troubleshooting has every failure of MAAS and of the store', () => {
  expect(missing(kindsIn('packages/maas/src/failure.ts'), 'MAAS')).toEqual([]);
  const store = read('src/store/failure.ts').split('export type StoreFailure')[1] ?? '';
  const kinds = [...store.matchAll(/readonly kind: '([a-z-]+)' ?[}&;]?/g)].map(([, kind]) => kind!);
  expect(missing(kinds, 'The store')).toEqual([]);
});
