import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  createTaskEngine,
  Dict,
  type Engine,
  type EngineOptions,
  type EvaluationRecord,
  encodeValue,
  fromHost,
  type HelperModule,
  nodeState,
  RecordEvaluator,
  registerHelpers,
  TaskScope,
  type Value,
  YaqlError,
} from '../../yaql/index.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Terminal } from '../terminal.js';
import type { YaqlCommandPorts } from './yaql.js';
import { type InputFlags, InputProblem, type InputStates, readStates } from './yaql-input.js';

/** Clock, random source and time zone of this machine, since this is not a workflow. */
const machineSources: Pick<EngineOptions, 'clock' | 'random' | 'localOffset'> = {
  clock: () => BigInt(Date.now()) * 1000n,
  random: Math.random,
  localOffset: BigInt(-new Date().getTimezoneOffset()) * 60_000_000n,
};

/** Runs `yaql eval`: `failed` is a failed expression, `invalid` a wrong call or file. */
export async function runEval(
  expression: string | undefined,
  flags: InputFlags & { readonly batch?: string },
  ports: YaqlCommandPorts,
): Promise<ExitCode> {
  const { terminal } = ports;
  try {
    if (flags.batch !== undefined) return await runBatch(terminal, flags.batch);
    if (expression === undefined) throw new InputProblem('Give an expression, or a file of them by --batch');
    const evaluator = await createEvaluator(flags, ports);
    terminal.out(`${shown(evaluator.evaluate(expression))}\n`);
    return EXIT.done;
  } catch (error) {
    return reportFailure(terminal, error);
  }
}

/** Prints an error for people; returns the exit code. */
export function reportFailure(terminal: Terminal, error: unknown): ExitCode {
  if (error instanceof YaqlError) {
    terminal.err(`${error.describe()}\n`);
    return EXIT.failed;
  }
  if (error instanceof InputProblem) {
    terminal.err(`${error.message}\n`);
    return EXIT.invalid;
  }
  throw error;
}

/** A value as JSON in the encoding of batch files, lists and dicts indented. */
export const shown = (value: Value): string => JSON.stringify(encodeValue(value), null, 2);

export interface Evaluator {
  readonly engine: Engine;
  evaluate(expression: string): Value;
}

/** An engine for the states of the flags, with the configured helpers. */
export async function createEvaluator(
  flags: InputFlags,
  ports: Omit<YaqlCommandPorts, 'terminal'>,
): Promise<Evaluator> {
  const states = await readStates(flags, ports.loadCluster);
  const engine = createTaskEngine(machineSources);
  const helpers = (await ports.loadHelpers?.()) ?? null;
  if (helpers !== null) registerHelpers(engine, helpers as HelperModule);
  const scope = scopeOf(engine, states);
  return { engine, evaluate: (expression) => scope.evaluate(expression) };
}

function scopeOf(engine: Engine, states: InputStates): TaskScope {
  const common = fromHost(states.data ?? null, 'mutable');
  const old = states.old === null ? null : fromHost(states.old, 'mutable');
  const node = states.node === null ? new Dict(false) : (fromHost(states.node, 'mutable') as Dict);
  const oldNode = states.oldNode === null ? node : (fromHost(states.oldNode, 'mutable') as Dict);
  if (!(common instanceof Dict) || (old !== null && !(old instanceof Dict))) {
    if (states.node !== null) throw new InputProblem('With --node, the data must be an object');
    const plain = (value: Value) => ({ union: value, node, common: value });
    return new TaskScope(engine, plain(common), old === null ? null : plain(old));
  }
  return new TaskScope(engine, nodeState(common, node), old === null ? null : nodeState(old, oldNode));
}

/** Prints one line for each input line; a line that is not a record gives an error with its number as id. */
async function runBatch({ outAll }: Terminal, path: string): Promise<ExitCode> {
  const evaluator = new RecordEvaluator(machineSources);
  const input = createReadStream(path, 'utf8');
  const failed = new Promise<never>((_, reject) =>
    input.once('error', (error) => reject(new InputProblem(`Cannot read ${path}: ${error.message}`))),
  );
  failed.catch(() => undefined);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  const evaluateAll = async (): Promise<void> => {
    let out = '';
    for await (const line of lines) {
      number++;
      if (line.trim() === '') continue;
      out += `${JSON.stringify(evaluateLine(evaluator, line, number))}\n`;
      if (out.length > 65_536) {
        await outAll(out);
        out = '';
      }
    }
    await outAll(out);
  };
  await Promise.race([evaluateAll(), failed]);
  return EXIT.done;
}

function evaluateLine(evaluator: RecordEvaluator, line: string, number: number): unknown {
  let record: EvaluationRecord;
  try {
    record = JSON.parse(line) as EvaluationRecord;
  } catch (error) {
    return { id: `line ${number}`, error: { class: 'InvalidRecord', message: (error as Error).message } };
  }
  if (typeof record !== 'object' || record === null || typeof record.expr !== 'string')
    return {
      id: `line ${number}`,
      error: { class: 'InvalidRecord', message: 'a record is an object with `id` and `expr`' },
    };
  return evaluator.evaluate(record);
}
