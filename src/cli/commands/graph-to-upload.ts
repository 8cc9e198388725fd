import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isMapping } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { GraphSource } from '../../graph/index.ts';
import { readSourceFile } from '../shell/data-file.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError, usageError } from '../shell/problem.ts';
import type { Terminal } from '../shell/terminal.ts';

/** Request body of a graph. */
export interface GraphBody {
  readonly tasks: readonly unknown[];
  readonly [field: string]: unknown;
}

/**
 * Reads a graph from a file of JSON or YAML: a list of tasks, or an object with `tasks`. Reports all problems that can
 * be found without the API, with line and column; warnings go to standard error.
 * @throws CliError with all problems
 */
export async function readGraphToUpload(file: string, terminal: Terminal): Promise<GraphBody> {
  const source = await readSourceFile(file, terminal);
  const { value } = source;
  // It would replace the stored tasks by none.
  if (((isMapping(value) ? value.tasks : value) ?? undefined) === undefined)
    throw usageError(`${source.file} has no tasks`, `${FORM}; [] is a graph without tasks.`);
  const body = asBody(source);
  await check(body.tasks, [source], terminal);
  return toSend(body);
}

/** Converts numbers to plain JSON. */
async function toSend(body: GraphBody): Promise<GraphBody> {
  return (await import('../../graph/index.ts')).plainNumbers(body) as GraphBody;
}

/** Reads a folder like Fuel's client: its `metadata.yaml`, and the tasks of every `tasks.yaml` below. */
export async function readGraphFolder(folder: string, terminal: Terminal): Promise<GraphBody> {
  const root = resolve(terminal.cwd, folder);
  const names = await readdir(root, { recursive: true }).catch((error: unknown) => {
    throw usageError(`cannot read the folder ${folder}: ${(error as Error).message}`);
  });
  const files = names.filter((name) => /(^|[\\/])tasks\.yaml$/.test(name)).sort();
  const lists = await Promise.all(
    files.map(async (name) => {
      const source = await readSourceFile(join(root, name), terminal);
      return { source, tasks: asBody(source).tasks };
    }),
  );
  const tasks = lists.flatMap((list) => list.tasks);
  if (tasks.length === 0)
    throw usageError(
      `nothing to upload: no tasks.yaml with tasks below ${folder}`,
      'Each folder of tasks has a file tasks.yaml: a list of tasks.',
    );
  const metadata = names.includes('metadata.yaml')
    ? await readSourceFile(join(root, 'metadata.yaml'), terminal)
    : undefined;
  if (metadata !== undefined && !isMapping(metadata.value))
    throw usageError(
      `${metadata.file} must be a mapping`,
      'It may have name, node_filter, on_success, on_error, on_stop.',
    );
  await check(
    tasks,
    lists.map(({ source }) => source),
    terminal,
  );
  return toSend({ ...(metadata?.value as object | undefined), tasks });
}

const FORM = 'Write a list of tasks, or a mapping with the list as tasks';

function asBody(source: GraphSource): GraphBody {
  // A file of a folder may have none.
  const value = source.value ?? [];
  if (Array.isArray(value)) return { tasks: value };
  if (isMapping(value)) {
    const tasks = value.tasks ?? [];
    if (Array.isArray(tasks)) return { ...value, tasks };
  }
  throw usageError(`${source.file} is not a graph`, `${FORM}.`);
}

/** Checks tasks numbered across several files; reports each problem with its file. */
async function check(tasks: readonly unknown[], sources: readonly GraphSource[], terminal: Terminal): Promise<void> {
  const { checkGraph, placeInSource, readTasks } = await import('../../graph/index.ts');
  const read = readTasks(tasks);
  const found = [...read.problems, ...checkGraph(read.tasks)];
  const placed = found.flatMap((problem): readonly Diagnostic[] => {
    const [number, ...rest] = problem.at;
    let first = 0;
    for (const source of sources) {
      const list = asBody(source).tasks;
      if (typeof number === 'number' && number < first + list.length) {
        const inList = Array.isArray(source.value) ? [] : ['tasks'];
        return placeInSource([{ ...problem, at: [...inList, number - first, ...rest] }], source);
      }
      first += list.length;
    }
    const { at: _at, ...unplaced } = problem;
    return [unplaced];
  });
  const errors = placed.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw invalid(placed);
  if (placed.length === 0) return;
  const { say } = await import('./graph-input.ts');
  say(placed, terminal);
}

const invalid = (problems: readonly Diagnostic[]): CliError =>
  new CliError(
    {
      code: 'invalid',
      message: 'the graph is not valid; nothing was stored',
      hint: 'Correct it at the given places.',
      errors: problems,
    },
    EXIT.invalid,
  );
