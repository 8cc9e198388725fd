import { appendFile, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { BackedDict, Dict, type FunctionDefinition, type Value, YaqlError } from '@sitewright/yaql';
import { EXIT, type ExitCode } from '../shell/exit-codes.ts';
import type { Terminal } from '../shell/terminal.ts';
import { createEvaluator, type Evaluator, reportFailure, shown, type YaqlCommandPorts } from './yaql-eval.ts';
import { describeFunction } from './yaql-functions.ts';
import type { InputFlags } from './yaql-input.ts';

const historySize = 1000;
const help = `An expression is evaluated and its value printed. Also:
  .help            this text
  .functions       names of all functions
  .function NAME   documentation of one
  .exit            end (also Ctrl-D)`;

/** Runs `yaql console` until the input ends; returns the exit code. */
export async function runConsole(flags: InputFlags, ports: YaqlCommandPorts): Promise<ExitCode> {
  let evaluator: Evaluator;
  try {
    evaluator = await createEvaluator(flags, ports);
  } catch (error) {
    return reportFailure(ports.terminal, error);
  }
  const file = join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'sitewright-yaql-history');
  const history = await readHistory(file);
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: 'yaql> ',
    history,
    historySize,
    removeHistoryDuplicates: true,
    completer: (line: string) => complete(line, evaluator),
  });
  return await converse(terminal, ports.terminal.out, evaluator, file);
}

async function readHistory(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .slice(-historySize)
    .reverse();
}

async function converse(
  terminal: Interface,
  print: Terminal['out'],
  evaluator: Evaluator,
  historyFile: string,
): Promise<ExitCode> {
  terminal.prompt();
  for await (const line of terminal) {
    const text = line.trim();
    if (text === '.exit') break;
    if (text !== '') {
      // A failure to save the history is ignored.
      await appendFile(historyFile, `${text}\n`).catch(() => undefined);
      print(`${answer(text, evaluator)}\n`);
    }
    terminal.prompt();
  }
  terminal.close();
  return EXIT.done;
}

/** The console's output for a line. */
export function answer(line: string, evaluator: Evaluator): string {
  if (line === '.help') return help;
  if (line === '.functions') return functionNames(evaluator).join(' ');
  if (line.startsWith('.function '))
    return describeFunction(line.slice(10).trim(), evaluator.helpers) ?? 'There is no such function.';
  try {
    return shown(evaluator.evaluate(line));
  } catch (error) {
    if (error instanceof YaqlError) return error.describe();
    throw error;
  }
}

const functionNames = (evaluator: Evaluator): string[] =>
  [...new Set(evaluator.engine.context.allFunctions().map((f: FunctionDefinition) => f.name))]
    .filter((name) => /^[a-zA-Z]/.test(name))
    .sort();

/** Completes function names, and keys of the dict before a dot. */
export function complete(line: string, evaluator: Evaluator): [string[], string] {
  const word = line.split(/[^\p{L}\p{N}_]/u).at(-1)!;
  const before = line.slice(0, line.length - word.length);
  const candidates = functionNames(evaluator).map((name) => `${name}(`);
  if (before.endsWith('.')) candidates.unshift(...keysBefore(before, evaluator));
  return [candidates.filter((name) => name.startsWith(word)), word];
}

/** Keys of the value at the path before the dot; inside `where(…)` and its like, of the elements. None for other texts. */
function keysBefore(before: string, { now }: Evaluator): string[] {
  const path = PATH.exec(before)?.[0].slice(0, -1);
  if (path === undefined) return [];
  const around = path === '$' ? AROUND.exec(before.slice(0, -path.length - 1))?.[1] : undefined;
  const names = (around ?? path).split('.');
  const roots: Readonly<Record<string, Value>> = { $: now.union, $node: now.node, $common: now.common };
  let value: Value | undefined = roots[names.shift() as string];
  for (const name of names) value = dictAt(value)?.get(name);
  const dict = dictAt(value);
  if (dict === undefined) return [];
  const keys = new Set([...dict.keys(), ...(dict instanceof BackedDict ? dict.furtherKeys() : [])]);
  return [...keys].filter((key) => typeof key === 'string' && /^[\p{L}_]/u.test(key)).map(String);
}

const PATH = /\$[\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*\.$/u;
/** A path whose elements the open call looks at. */
const AROUND = /(\$[\p{L}\p{N}_.]*)\.(?:where|filter|select|map|any|all|orderBy|groupBy|toDict)\([^()]*$/u;

/** The dict, or the first of a list of them. */
function dictAt(value: Value | undefined): Dict | undefined {
  const one = Array.isArray(value) ? value[0] : value;
  return one instanceof Dict ? one : undefined;
}
