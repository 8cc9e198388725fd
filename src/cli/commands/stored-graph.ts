import { Option } from 'commander';
import type { CliCommand } from '../shell/command.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import type { Complaints } from '../shell/terminal.ts';
import { type ReadGraph, readGraphFile, say } from './graph-input.ts';

/** Layers of a cluster's graph; `all` means merged. */
export const LAYERS = ['all', 'cluster', 'plugins', 'release'] as const;
export type Layer = (typeof LAYERS)[number];

/** The source of a command's graph: a file, or a stored graph of a cluster. */
export interface GraphOrigin {
  readonly input?: string;
  readonly cluster?: string;
  readonly type?: string;
  readonly layer?: Layer;
}

/** Adds `--input` and, for stored graphs, `--cluster`, `--type`, `--layer`. */
export const originOptions = (command: CliCommand, input: string): CliCommand =>
  command
    .option('--input <file>', input)
    .ofCluster('cluster of a stored graph')
    .option('-t, --type <type>', 'type of the stored graph (default: default)')
    .addOption(layerOption());

export const layerOption = (
  description = 'only the tasks of this layer of the stored graph; all: merged (default)',
): Option => new Option('--layer <layer>', description).choices([...LAYERS]);

/** Reads the graph of a command and reports its problems. @throws CliError */
export async function readGraphOf(session: Session, origin: GraphOrigin, terminal: Complaints): Promise<ReadGraph> {
  const { input, cluster } = origin;
  if ((input === undefined) === (cluster === undefined))
    throw usageError('name the graph', 'Give --input FILE, or --cluster ID.');
  if (cluster === undefined) return readGraphFile(input!, terminal);
  return readStoredGraph(session, { ...origin, cluster }, terminal);
}

/** The API's path of the tasks of a cluster's graph: of one layer, or all merged. */
export const TASKS_OF = {
  all: 'GET /clusters/:id/deployment_tasks/',
  cluster: 'GET /clusters/:id/deployment_tasks/own/',
  plugins: 'GET /clusters/:id/deployment_tasks/plugins/',
  release: 'GET /clusters/:id/deployment_tasks/release/',
} as const;

/** The stored tasks of a cluster's graph. */
export async function readStoredGraph(
  session: Session,
  { cluster, type = 'default', layer = 'all' }: GraphOrigin & { readonly cluster: string },
  terminal: Complaints,
): Promise<ReadGraph> {
  const value = await session.call(TASKS_OF[layer], { params: { id: cluster }, query: { graph_type: type } });
  const { checkGraph, readTasks } = await import('../../graph/index.ts');
  const { tasks, problems } = readTasks(value);
  const all = [...problems, ...checkGraph(tasks)].map(({ at: _at, ...problem }) => problem);
  if (!problems.some(({ severity }) => severity === 'error')) return { ok: true, tasks, problems: all, value };
  say(all, terminal);
  return { ok: false, problems: all };
}
