// Lists the regular expressions of the product, and has `recheck` prove which of them are linear:
// `npm run docs:expressions -- FOLDER`, where FOLDER has it (`npm install recheck@4.5.0` in an empty one). It is no
// dependency of ours, because only new expressions need it; test/unit/attacks/expressions.test.ts lists them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FOLDERS = ['src', 'workflows', 'activities', 'worker', 'packages'];
const RECORD = `${ROOT}test/data/expressions.json`;

/** An expression in a source: a literal, or the argument of `RegExp`. */
export interface Expression {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly isLiteral: boolean;
}

/** By what recheck found, as literals: `proven` by its automata, `tried` without a find by its search for bad texts. */
interface Record {
  readonly proven: readonly string[];
  readonly tried: readonly string[];
}

export const expressionRecord = (): Record => JSON.parse(readFileSync(RECORD, 'utf8')) as Record;

/** Every expression of the product's sources, by parsing them. */
export function expressions(): readonly Expression[] {
  return FOLDERS.flatMap((folder) => filesIn(folder)).flatMap((file) =>
    expressionsIn(file, readFileSync(ROOT + file, 'utf8')),
  );
}

function filesIn(folder: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names
    .filter((name) => /\.(?:tsx?|js|mjs)$/.test(name) && !/(?:^|\/)(?:node_modules|dist|test)\//.test(name))
    .map((name) => `${folder}/${name}`)
    .sort();
}

export function expressionsIn(file: string, source: string): readonly Expression[] {
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const found: Expression[] = [];
  const add = (node: ts.Node, isLiteral: boolean): void => {
    const { line } = parsed.getLineAndCharacterOfPosition(node.getStart());
    found.push({ file, line: line + 1, text: node.getText().replace(/\s+/g, isLiteral ? '$&' : ' '), isLiteral });
  };
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) add(node, true);
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp')
      add(node, false);
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  return found;
}

/** This tool's finding about one expression; `checker` is how it knows. */
interface Checked {
  readonly status: 'safe' | 'vulnerable' | 'unknown';
  readonly checker?: 'automaton' | 'fuzz' | 'simple';
  readonly complexity?: { readonly summary: string };
}

function prove(folder: string): void {
  const { checkSync } = createRequire(`${resolve(folder)}/x.js`)('recheck') as {
    checkSync(source: string, flags: string, options: { timeout: number }): Checked;
  };
  const known = expressionRecord();
  const before = new Map([
    ...known.proven.map((text) => [text, 'proven'] as const),
    ...known.tried.map((text) => [text, 'tried'] as const),
  ]);
  const record = { proven: [] as string[], tried: [] as string[] };
  for (const text of [...new Set(expressions().flatMap((one) => (one.isLiteral ? [one.text] : [])))].sort()) {
    const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text)!;
    let kind = before.get(text);
    if (kind === undefined) {
      const { status, checker, complexity } = checkSync(source, flags.replace('d', ''), { timeout: 30_000 });
      if (status === 'safe') kind = checker === 'fuzz' ? 'tried' : 'proven';
      else console.error(`${text}: ${status} ${complexity?.summary ?? ''}`);
    }
    if (kind !== undefined) record[kind].push(text);
  }
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) prove(process.argv[2] ?? '.');
