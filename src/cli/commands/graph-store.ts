import { Option } from 'commander';
import { namesOfType } from '../../core/graph-types.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { counted } from '../../core/text/text.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm } from '../shell/confirm.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { clusterArgument, clusterListArgument, pluginListArgument, releaseListArgument } from '../shell/id-argument.ts';
import { isTabular, type OutputFlags, printList, printOne } from '../shell/output.ts';
import { CliError, usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { type OwnerFlags, ownerOf, ownerOptions, ownerOrCluster } from './graph-owner.ts';
import { LAYERS, type Layer, layerOption, TASKS_OF } from './stored-graph.ts';

const DEFAULT_TYPE = 'default';

/** `--cluster ID`; without an id it is Fuel's word for the layer of the cluster, which `--env` names. */
const clusterOrLayer = (description: string, value: string): Option => new Option(`--cluster [${value}]`, description);

/** Adds `list`, `upload`, `download`, `delete` to the `graph` command: graphs stored by the API. */
export function registerGraphStore(graph: CliCommand, session: Session): void {
  graph
    .verb('list', 'Stored graphs with their owners, types and tasks')
    .example('--cluster lab')
    .addOption(clusterOrLayer('only of these clusters', 'ids').argParser(clusterListArgument as never))
    .addOption(
      new Option('-e, --env <ids>', "Fuel's word for --cluster").argParser(clusterListArgument as never).hideHelp(),
    )
    .option('-r, --release <ids>', 'only of these releases', releaseListArgument)
    .option('-p, --plugin <ids>', 'only of these plugins', pluginListArgument)
    .option('-t, --type <types...>', 'only of these types')
    .addOption(
      new Option(
        '--layer <layers...>',
        'with --cluster: only the graphs of the cluster itself, its plugins, its release',
      ).choices(LAYERS.filter((layer) => layer !== 'all')),
    )
    .addOption(new Option('--plugins', "Fuel's word for --layer plugins").hideHelp())
    .addOption(new Option('--releases', "Fuel's word for --layer release").hideHelp())
    .output()
    .action((flags: ListFlags) => listGraphs(session, flags));

  ownerOptions(
    graph
      .verb('upload', 'Store a graph; its tasks replace all earlier ones')
      .example('--cluster lab --type health --file tasks.yaml')
      .example('--type health --file tasks.yaml', 'of the cluster of the context, or of the only one'),
  )
    .option('-t, --type <type>', `type of the graph; ${DEFAULT_TYPE} after you confirm it`)
    .option('--file <file>', 'tasks, or a graph with name and node_filter, as YAML or JSON; - is standard input')
    .option('-d, --dir <folder>', 'metadata.yaml and every tasks.yaml below the folder')
    .asks()
    .output()
    .action((flags: UploadFlags) => uploadGraph(session, flags));

  graph
    .verb('download', 'Save the tasks of a cluster’s graph: merged, or of one layer')
    .example('--cluster lab --file -', 'all layers merged, on standard output')
    .example('--cluster lab --layer release')
    .addOption(clusterOrLayer('the cluster', 'id').argParser(clusterArgument))
    .addOption(new Option('-e, --env <id>', "Fuel's word for --cluster").argParser(clusterArgument).hideHelp())
    .addOption(layerOption('only the tasks of this layer; all: merged, as in a run (default)'))
    .addOption(new Option('--all', "Fuel's word for --layer all").hideHelp())
    .addOption(new Option('--plugins', "Fuel's word for --layer plugins").hideHelp())
    .addOption(new Option('--release', "Fuel's word for --layer release").hideHelp())
    .option('-t, --type <type>', 'type of the graph', DEFAULT_TYPE)
    .option('--file <file>', 'target file; - is standard output (default: LAYER_graph_ID.yaml here)')
    .fileFormat()
    .action((flags: DownloadFlags) => downloadGraph(session, flags));

  ownerOptions(graph.verb('delete', 'Delete a stored graph with its tasks').example('--cluster lab --type health'))
    .requiredOption('-t, --type <type>', 'type of the graph')
    .asks()
    .output()
    .action(async ({ type, yes, ...flags }: OwnerFlags & OutputFlags & { type: string; yes?: boolean }) => {
      const owner = ownerOf(session, flags);
      await confirm(session.terminal, `Delete the graph of type ${type} of ${owner.text}?`, yes, 'required');
      await session.call(`DELETE /${owner.folder}/:id/deployment_graphs/:type`, {
        params: { id: owner.id, type },
      });
      const text = `deleted the graph of type ${type} of ${owner.text}\n`;
      await printOne(session.terminal, flags, { type, [owner.kind]: Number(owner.id) }, text);
    });
}

interface ListFlags extends OutputFlags {
  /** `true`: Fuel's word for the layer of the cluster, which `--env` names. */
  readonly cluster?: readonly number[] | true;
  readonly env?: readonly number[];
  readonly release?: readonly number[];
  readonly plugin?: readonly number[];
  readonly type?: readonly string[];
  readonly layer?: readonly Layer[];
  readonly plugins?: boolean;
  readonly releases?: boolean;
}

async function listGraphs(session: Session, flags: ListFlags): Promise<void> {
  const { release, plugin, type } = flags;
  const clusters = flags.env ?? (flags.cluster === true ? undefined : flags.cluster);
  const layers = new Set<Layer | false | undefined>([
    ...(flags.layer ?? []),
    flags.cluster === true && 'cluster',
    flags.plugins && 'plugins',
    flags.releases && 'release',
  ]);
  for (const not of [false, undefined] as const) layers.delete(not);
  if (layers.size > 0 && clusters === undefined)
    throw usageError('--layer chooses among the graphs of a cluster', 'Add --cluster ID.');
  const related = clusters !== undefined && !(layers.size === 1 && layers.has('cluster'));
  const query = {
    clusters_ids: clusters?.join(','),
    releases_ids: release?.join(','),
    plugins_ids: plugin?.join(','),
    graph_types: type?.join(','),
    fetch_related: related ? 1 : undefined,
  };
  const found = await session.call('GET /graphs/', { query });
  const wanted = new Set([...layers].map((layer) => (layer === 'plugins' ? 'plugin' : String(layer))));
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
  const { file, dir } = flags;
  if ((file === undefined) === (dir === undefined))
    throw usageError('nothing to upload', 'Give --file FILE or --dir FOLDER, and only one of them.');
  const owner = await ownerOrCluster(session, flags);
  const type = flags.type ?? DEFAULT_TYPE;
  const { readGraphFolder, readGraphToUpload } = await import('./graph-to-upload.ts');
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
  readonly env?: string;
  readonly cluster?: string | true;
  readonly layer?: Layer;
  readonly all?: boolean;
  readonly plugins?: boolean;
  readonly release?: boolean;
  readonly type: string;
  readonly file?: string;
  readonly format: 'yaml' | 'json';
}

/** Fuel's answer for a type that no layer of the cluster has is no tasks. */
async function checkType(session: Session, cluster: string, type: string): Promise<void> {
  const graphs = await session.call('GET /graphs/', { query: { clusters_ids: cluster, fetch_related: 1 } });
  const known = new Set(graphs.flatMap(({ relations }) => relations.map((one) => one.type)));
  if (namesOfType(type).some((name) => known.has(name))) return;
  throw new CliError(
    {
      code: 'not-found',
      message: `${session.textOf('cluster', cluster)} has no graph of type '${type}'`,
      hint: didYouMean(type, known) ?? `It has: ${[...known].sort().join(', ') || 'none'}.`,
    },
    EXIT.notFound,
  );
}

async function downloadGraph(session: Session, flags: DownloadFlags): Promise<void> {
  const { type, format } = flags;
  const cluster = flags.env ?? (flags.cluster === true ? undefined : flags.cluster);
  if (cluster === undefined) throw usageError('name the cluster', 'Give --cluster ID.');
  const fuels = { all: flags.all, cluster: flags.cluster === true, plugins: flags.plugins, release: flags.release };
  const named = new Set(LAYERS.filter((layer) => flags.layer === layer || fuels[layer] === true));
  if (named.size > 1) throw usageError('--layer names one layer', `Give one of ${LAYERS.join(', ')}.`);
  const [layer = 'all'] = named;
  const tasks = await session.call(TASKS_OF[layer], { params: { id: cluster }, query: { graph_type: type } });
  if (tasks.length === 0) await checkType(session, cluster, type);
  const text =
    format === 'json'
      ? `${JSON.stringify(tasks, null, 2)}\n`
      : (await import('js-yaml')).dump(tasks, { noRefs: true, lineWidth: 120 });
  if (flags.file === '-') return session.terminal.out(text);
  const { writeFile } = await import('node:fs/promises');
  const { resolve } = await import('node:path');
  const target = resolve(session.terminal.cwd, flags.file ?? `${layer}_graph_${cluster}.${format}`);
  await writeFile(target, text).catch((error: unknown) => {
    throw usageError(`cannot write ${target}: ${(error as Error).message}`, 'Name another file with --file.');
  });
  session.terminal.out(`saved ${counted(tasks.length, 'task')} to ${target}\n`);
}
