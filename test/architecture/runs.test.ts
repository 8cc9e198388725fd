import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What changes the record of a run, by the port of the store. */
const WRITERS: Readonly<Record<string, readonly string[]>> = {
  runs: ['put', 'show', 'end', 'putReport', 'putNodes', 'dropNodes'],
  transactions: ['createRun', 'endGraphs', 'reopenGraphs'],
  claims: ['claim', 'takeOver', 'release'],
};
/** Those that no other object of the product has: found whatever the port is called there. */
const UNMISTAKABLE = ['putReport', 'putNodes', 'dropNodes', 'createRun', 'endGraphs', 'reopenGraphs'];

/** Where a run's record is written, by file and line; and where a port gets another name, under which no writer would be found. */
function writersIn(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const found: string[] = [];
  const note = (node: ts.Node, what: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push(`${file}:${line + 1} ${what}`);
  };
  /** The last word of `within.runs`, `store['runs']`, `runs`. */
  const nameOf = (node: ts.Node): string | undefined =>
    ts.isIdentifier(node) || ts.isStringLiteral(node)
      ? node.text
      : ts.isPropertyAccessExpression(node)
        ? node.name.text
        : ts.isElementAccessExpression(node)
          ? nameOf(node.argumentExpression)
          : undefined;
  const check = (node: ts.Node, port: string | undefined, method: string | undefined): void => {
    if (method === undefined) return;
    if (UNMISTAKABLE.includes(method) || WRITERS[port ?? '']?.includes(method)) note(node, method);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node))
      check(node, nameOf(node.expression), nameOf(node));
    if (ts.isVariableDeclaration(node) && node.initializer) {
      const port = nameOf(node.initializer);
      if (ts.isObjectBindingPattern(node.name))
        for (const one of node.name.elements) check(one, port, nameOf(one.propertyName ?? one.name));
      else if (isPort(node.initializer) && nameOf(node.name) !== port) note(node, `${port} by another name`);
    }
    if (ts.isBindingElement(node) && node.propertyName !== undefined) {
      const port = nameOf(node.propertyName);
      if (port !== undefined && port in WRITERS && ts.isIdentifier(node.name) && node.name.text !== port)
        note(node, `${port} by another name`);
    }
    ts.forEachChild(node, visit);
  };
  /** `store.runs`, not any value of that name. */
  const isPort = (node: ts.Node): boolean =>
    (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) &&
    ['store', 'within'].includes(nameOf(node.expression) ?? '') &&
    (nameOf(node) ?? '') in WRITERS;
  visit(source);
  return found;
}

/** Workflows and the page have no store; the store has the writers. */
const elsewhere = (file: string): boolean => !/^(src\/(runs|store|ui|simulation)|workflows)\//.test(file);

it('only src/runs writes the record of a run, and in one file but for claims', () => {
  const listed = ['src', 'activities', 'worker'].map((folder) => `${folder}/*.ts`);
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...listed], {
    cwd: root,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .filter((file) => existsSync(root + file));
  const writing = (which: readonly string[]) =>
    which.flatMap((file) => writersIn(file, readFileSync(root + file, 'utf8')));
  expect(writing(files.filter(elsewhere))).toEqual([]);
  const inside = writing(files.filter((file) => file.startsWith('src/runs/')));
  const ofClaims = /^src\/runs\/claims\.ts:\d+ (claim|takeOver|release)$/;
  expect(inside.filter((one) => !one.startsWith('src/runs/life.ts:') && !ofClaims.test(one))).toEqual([]);
  expect(inside.filter((one) => one.startsWith('src/runs/life.ts:')).length).toBeGreaterThan(5);
});

it('a second writer is found however it is written', () => {
  const planted = [
    'await store.runs.put(row);',
    'await within.claims.release(subject, run);',
    "await deps.store['runs'].end(row);",
    'const { put } = store.runs;',
    'const { runs: rows } = store;',
    'const rows = store.runs;',
    'await rows.putReport(id, 1, report);',
    'await (await open()).transactions.endGraphs(1, end);',
    'const end = runs.end;',
  ];
  expect(planted.filter((line) => writersIn('planted.ts', line).length === 0)).toEqual([]);
  const readers = [
    'await store.runs.get(id);',
    'await runs.start(kind, input);',
    'await store.packages.put(one);',
    'const { runs } = store;',
    'socket.end();',
  ];
  expect(readers.flatMap((line) => writersIn('planted.ts', line))).toEqual([]);
});
