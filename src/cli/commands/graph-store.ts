import { counted } from '../../core/text/text.ts';
import type { CliCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { isTabular, type OutputFlags, printList, printOne } from '../formats/output.ts';
import { type OwnerFlags, ownerOf, ownerOptions } from '../graph-owner.ts';
import { clusterListArgument, pluginListArgument, releaseListArgument } from '../id-argument.ts';
import { CliError, usageError } from '../problem.ts';
import type { Session } from '../session.ts';
import { LAYERS, TASKS_OF } from './stored-graph.ts';

const DEFAULT_TYPE = 'default';

/** Adds `list`, `upload`, `download`, `delete` to the `graph` command: graphs stored by the API. */
export function registerGraphStore(graph: CliCommand, session: Session): void {
  graph
    .verb('list', 'Stored graphs with their owners, types and tasks')
    .option('-e, --env <ids>', 'only of these clusters', clusterListArgument)
    .option('-r, --release <ids>', 'only of these releases', releaseListArgument)
    .option('-p, --plugin <ids>', 'only of these plugins', pluginListArgument)
    .option('-t, --type <types...>', 'only of these types')
    .option('--cluster', 'with --env: the graphs of the cluster')
    .option('--plugins', 'with --env: the graphs of its plugins')
    .option('--releases', 'with --env: the graphs of its release')
    .output()
    .action((flags: ListFlags) => listGraphs(session, flags));

  ownerOptions(graph.verb('upload', 'Store a graph; its tasks replace all earlier ones'))
    .option('-t, --type <type>', `type of the graph; ${DEFAULT_TYPE} after you confirm it`)
    .option('--file <file>', 'tasks, or a graph with name and node_filter, as YAML or JSON; - is standard input')
    .option('-d, --dir <folder>', 'metadata.yaml and every tasks.yaml below the folder')
    .asks()
    .output()
    .action((flags: UploadFlags) => uploadGraph(session, flags));

  graph
    .verb('download', 'Save the tasks of a cluster’s graph: merged, or of one layer')
    .requiredOption('-e, --env <id>', 'id of the cluster')
    .option('-a, --all', 'all layers merged, as in a run (default)')
    .option('-c, --cluster', 'only those of the cluster')
    .option('-p, --plugins', 'only those of its plugins')
    .option('-r, --release', 'only those of its release')
    .option('-t, --type <type>', 'type of the graph', DEFAULT_TYPE)
    .option('--file <file>', 'target file; - is standard output (default: LAYER_graph_ID.yaml here)')
    .fileFormat()
    .action((flags: DownloadFlags) => downloadGraph(session, flags));

  ownerOptions(graph.verb('delete', 'Delete a stored graph with its tasks'))
    .requiredOption('-t, --type <type>', 'type of the graph')
    .asks()
    .output()
    .action(async ({ type, yes, ...flags }: OwnerFlags & OutputFlags & { type: string; yes?: boolean }) => {
      const owner = ownerOf(flags);
      await confirm(session.terminal, `Delete the graph of type ${type} of ${owner.text}?`, yes, 'required');
      await session.call(`DELETE /${owner.folder}/:id/deployment_graphs/:type`, {
        params: { id: owner.id, type },
      });
      const text = `deleted the graph of type ${type} of ${owner.text}\n`;
      await printOne(session.terminal, flags, { type, [owner.kind]: Number(owner.id) }, text);
    });
}

interface ListFlags extends OutputFlags {
  readonly env?: readonly number[];
  readonly release?: readonly number[];
  readonly plugin?: readonly number[];
  readonly type?: readonly string[];
  readonly cluster?: boolean;
  readonly plugins?: boolean;
  readonly releases?: boolean;
}

async function listGraphs(session: Session, flags: ListFlags): Promise<void> {
  const { env, release, plugin, type, cluster, plugins, releases } = flags;
  if ((cluster || plugins || releases) && env === undefined)
    throw usageError('--cluster, --plugins and --releases choose among the graphs of a cluster', 'Add --env ID.');
  const related = env !== undefined && !(cluster && !plugins && !releases);
  const query = {
    clusters_ids: env?.join(','),
    releases_ids: release?.join(','),
    plugins_ids: plugin?.join(','),
    graph_types: type?.join(','),
    fetch_related: related ? 1 : undefined,
  };
  const found = await session.call('GET /graphs/', { query });
  const wanted = new Set([cluster && 'cluster', plugins && 'plugin', releases && 'release'].filter(Boolean));
  const shown = found.filter(({ relations }) => wanted.size === 0 || relations.some(({ model }) => wanted.has(model)));
  const rows = shown.map(({ id, name, tasks, relations, ...rest }) => ({
    id,
    name: name ?? '',
    tasks: tasks.map((task) => task.id).sort(),
    relations: relations.map((one) => `as "${one.type}" to ${one.model}(ID=${one.model_id})`),
    ...rest,
  }));
  await printList(
    session.terminal,
    flags,
    isTabular(flags)
      ? rows.map((row) => ({ ...row, tasks: short(row.tasks), relations: row.relations.join('; ') }))
      : rows,
    ['id', 'name', 'relations', 'tasks'],
  );
}

/** A library has hundreds of tasks: a table shows the first ones and the number of the others. */
const short = (names: readonly string[]): string =>
  names.length <= 6 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`;

interface UploadFlags extends OwnerFlags, OutputFlags {
  readonly type?: string;
  readonly file?: string;
  readonly dir?: string;
  readonly yes?: boolean;
}

async function uploadGraph(session: Session, flags: UploadFlags): Promise<void> {
  const owner = ownerOf(flags);
  const { file, dir } = flags;
  if ((file === undefined) === (dir === undefined))
    throw usageError('nothing to upload', 'Give --file FILE or --dir FOLDER, and only one of them.');
  const type = flags.type ?? DEFAULT_TYPE;
  const { readGraphFolder, readGraphToUpload } = await import('../graph-to-upload.ts');
  const body =
    file === undefined
      ? await readGraphFolder(dir!, session.terminal)
      : await readGraphToUpload(file, session.terminal);
  if (flags.type === undefined) {
    const question = `No --type is given. Replace the graph of type ${DEFAULT_TYPE} of ${owner.text}?`;
    await confirm(session.terminal, question, flags.yes, 'required');
  }
  const client = await session.client();
  const at = `/${owner.folder}/:id/deployment_graphs/:type` as const;
  const graph = { params: { id: owner.id, type }, body };
  const stored = await client.call(`PUT ${at}`, graph).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.problem.code !== 'not-found') throw error;
    return client.call(`POST ${at}`, graph);
  });
  const text = `stored graph ${stored.id} of type ${type} of ${owner.text}: ${counted(stored.tasks.length, 'task')}\n`;
  await printOne(session.terminal, flags, stored, text);
}

interface DownloadFlags {
  readonly env: string;
  readonly all?: boolean;
  readonly cluster?: boolean;
  readonly plugins?: boolean;
  readonly release?: boolean;
  readonly type: string;
  readonly file?: string;
  readonly format: 'yaml' | 'json';
}

async function downloadGraph(session: Session, flags: DownloadFlags): Promise<void> {
  const { env, type, format } = flags;
  const named = LAYERS.filter((layer) => flags[layer] ?? (layer === 'all' && session.terminal.all === true));
  if (named.length > 1) throw usageError('--all, --cluster, --plugins and --release exclude each other');
  const layer = named[0] ?? 'all';
  const tasks = await session.call(TASKS_OF[layer], { params: { id: env }, query: { graph_type: type } });
  const text =
    format === 'json'
      ? `${JSON.stringify(tasks, null, 2)}\n`
      : (await import('js-yaml')).dump(tasks, { noRefs: true, lineWidth: 120 });
  if (flags.file === '-') return session.terminal.out(text);
  const { writeFile } = await import('node:fs/promises');
  const { resolve } = await import('node:path');
  const target = resolve(session.terminal.cwd, flags.file ?? `${layer}_graph_${env}.${format}`);
  await writeFile(target, text).catch((error: unknown) => {
    throw usageError(`cannot write ${target}: ${(error as Error).message}`, 'Name another file with --file.');
  });
  session.terminal.out(`saved ${counted(tasks.length, 'task')} to ${target}\n`);
}
