import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import {
  createTaskEngine,
  Dict,
  type Engine,
  type EngineOptions,
  type EvaluationRecord,
  encodeValue,
  type FunctionDefinition,
  fromHost,
  type NodeState,
  nodeState,
  RecordEvaluator,
  TaskScope,
  type Value,
  YaqlError,
} from '@sitewright/yaql';
import { given } from '../../core/data/given.ts';
import { StateData } from '../../graph/index.ts';
import { EXIT, type ExitCode } from '../shell/exit-codes.ts';
import { readPieces } from '../shell/read-input.ts';
import type { Terminal } from '../shell/terminal.ts';
import {
  type ClusterStates,
  type InputFlags,
  InputProblem,
  type InputStates,
  readStates,
  type StateView,
} from './yaql-input.ts';

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
    if (flags.batch !== undefined) return await runBatch(terminal, flags.batch, await helpersOf(ports));
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
  /** The functions of the installation. */
  readonly helpers: readonly FunctionDefinition[];
  /** `$`, `$node` and `$common`. */
  readonly now: NodeState;
  evaluate(expression: string): Value;
}

/** An engine for the states of the flags, with the configured helpers. */
export async function createEvaluator(
  flags: InputFlags,
  ports: Omit<YaqlCommandPorts, 'terminal'>,
): Promise<Evaluator> {
  const { now, old } = await statesOf(flags, ports);
  const engine = createTaskEngine(machineSources);
  const helpers = await helpersOf(ports);
  engine.registerDefinitions(helpers);
  const scope = new TaskScope(engine, now, old);
  return { engine, helpers, now, evaluate: (expression) => scope.evaluate(expression) };
}

/** The helper functions of the installation. */
const helpersOf = async ({
  loadHelpers,
}: Pick<YaqlCommandPorts, 'loadHelpers'>): Promise<readonly FunctionDefinition[]> => (await loadHelpers?.()) ?? [];

interface States {
  readonly now: NodeState;
  readonly old: NodeState | null;
}

async function statesOf(flags: InputFlags, { loadCluster }: Omit<YaqlCommandPorts, 'terminal'>): Promise<States> {
  const cluster = flags.cluster;
  if (cluster === undefined) return fromFiles(await readStates(flags));
  if (loadCluster === undefined) throw new InputProblem('No server for --cluster: use --data and --old instead');
  const { now, before } = await loadCluster(cluster, flags.node);
  const stateOf = ({ common, node, nodes, facts }: StateView): NodeState => {
    const uid = flags.node ?? null;
    const parts = { ...nodes, ...(uid === null || node === null ? {} : { [uid]: node }) };
    return new StateData({ common, nodes: parts, ...given({ facts }) }).of(uid);
  };
  return { now: stateOf(now), old: before === null ? null : stateOf(before) };
}

function fromFiles(states: InputStates): States {
  const common = fromHost(states.data ?? null, 'mutable');
  const old = states.old === null ? null : fromHost(states.old, 'mutable');
  const node = states.node === null ? new Dict(false) : (fromHost(states.node, 'mutable') as Dict);
  if (!(common instanceof Dict) || (old !== null && !(old instanceof Dict))) {
    if (states.node !== null) throw new InputProblem('With --node, the data must be an object');
    const plain = (value: Value) => ({ union: value, node, common: value, size: 0 });
    return { now: plain(common), old: old === null ? null : plain(old) };
  }
  return { now: nodeState(common, node), old: old === null ? null : nodeState(old, node) };
}

/** Prints one line for each input line; a line that is not a record gives an error with its number as id. */
async function runBatch({ outAll }: Terminal, path: string, helpers: readonly FunctionDefinition[]): Promise<ExitCode> {
  const evaluator = new RecordEvaluator(machineSources, helpers);
  const input = Readable.from(readPieces(path));
  const failed = new Promise<never>((_, reject) => input.once('error', reject));
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

/** Dependencies of the `yaql` command on its program. */
export interface YaqlCommandPorts {
  readonly terminal: Terminal;
  /** Loads both states of a cluster by name or id, for `--cluster`; if absent, that option is refused with a hint. */
  readonly loadCluster?: (cluster: string, node: string | undefined) => Promise<ClusterStates>;
  /** Loads the helper functions of the installation. */
  readonly loadHelpers?: () => Promise<readonly FunctionDefinition[]>;
}
