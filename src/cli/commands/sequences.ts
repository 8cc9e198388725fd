import { isMapping } from '../../core/data/plain-value.ts';
import { type Answer, type Body, unchecked } from '../client.ts';
import type { CliCommand } from '../command.ts';
import { type OutputFlags, printOne, yamlText } from '../formats/output.ts';
import { releaseArgument, sequenceArgument } from '../id-argument.ts';
import { usageError } from '../problem.ts';
import { type GraphRunFlags, runOptions } from '../run-request.ts';
import type { Session } from '../session.ts';
import type { FollowFlags } from '../started-run.ts';
import { presentGraphRun } from './graph-execute.ts';

const ID = 'id or name of the sequence';

/** `sitewright sequence …`: graphs of several types under one name, run in order. */
export function registerSequence(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('sequence', 'Sequences: graphs that a release runs in order');
  const textOf = ([id = '']: readonly string[]): string => session.textOf('sequence', id);
  const about = (name: string, text: string) => group.verb(name, text).argument('<id>', ID, sequenceArgument);

  group
    .verb('list', 'Sequences of a release, or of the release of a cluster')
    .example('--cluster lab')
    .option('-r, --release <id>', 'only of this release', releaseArgument)
    .ofCluster('only of the release of this cluster')
    .calls(session, 'GET /sequences/', {
      columns: ['id', 'name', 'release_id', 'graphs'],
      rows: (found, { flags }) => found.map(withTypes(flags)),
    });

  about('show', 'One sequence')
    .example('deploy')
    .calls(session, 'GET /sequences/:id', { record: (found, { flags }) => withTypes(flags)(found) });

  group
    .verb('create', 'Create a sequence of graph types')
    .example('--release jammy --name deploy --type provisioning default')
    .requiredOption('-r, --release <id>', 'release of the sequence', releaseArgument)
    .requiredOption('--name <name>', 'name, unique in the release')
    .requiredOption('-t, --type <types...>', 'types of graphs, in order')
    .output()
    .action(async ({ release, name, type, ...flags }: CreateFlags) => {
      const body = { name, release: Number(release), graphs: type.map((one) => ({ type: one })) };
      await create(session, flags, body);
    });

  group
    .verb('upload', 'Create a sequence from a file with name and graphs')
    .example('--release jammy --file sequence.yaml')
    .requiredOption('-r, --release <id>', 'release of the sequence', releaseArgument)
    .requiredOption('--file <file>', 'name and graphs as YAML or JSON')
    .output()
    .action(async ({ release, file, ...flags }: OutputFlags & { readonly release: string; readonly file: string }) => {
      const body = unchecked({ ...(await mappingIn(session, file)), release: Number(release) });
      await create(session, flags, body);
    });

  about('update', 'Rename a sequence, or change its graphs')
    .example('deploy --name rollout')
    .option('--name <name>', 'its new name')
    .option('-t, --type <types...>', 'its types of graphs, in order')
    .output()
    .action(async (id: string, { name, type, ...flags }: Partial<CreateFlags> & OutputFlags) => {
      if (name === undefined && type === undefined) throw usageError('nothing to change', 'Give --name or --type.');
      const body = { ...(name && { name }), ...(type && { graphs: type.map((one) => ({ type: one })) }) };
      const updated = await session.call('PATCH /sequences/:id', { params: { id }, body });
      await printOne(terminal, flags, updated, `updated ${session.textOf('sequence', id)}\n`);
    });

  about('download', 'Print a sequence in the form for upload')
    .example('deploy')
    .calls(session, 'GET /sequences/:id', { record: forUpload, text: (found) => yamlText(forUpload(found)) });

  about('delete', 'Delete a sequence; its graphs stay')
    .example('deploy')
    .calls(session, 'DELETE /sequences/:id', {
      question: { need: 'required', text: ({ args }) => `Delete ${textOf(args)}?` },
      record: (_gone, { args }) => ({ id: Number(args[0]) }),
      text: (_gone, { args }) => `deleted ${textOf(args)}\n`,
    });

  about('execute', 'Run the graphs of a sequence on a cluster')
    .example('deploy --cluster lab --watch')
    .ofCluster('cluster', 'required')
    .graphRun()
    .follows()
    .action(async (id: string, { cluster, ...flags }: GraphRunFlags & FollowFlags & { readonly cluster: string }) => {
      const body = { cluster: Number(cluster), ...runOptions(flags) };
      const started = await session.call('POST /sequences/:id/execute/', { params: { id }, body });
      await presentGraphRun(session, started, flags);
    });
}

interface CreateFlags extends OutputFlags {
  readonly release: string;
  readonly name: string;
  readonly type: readonly string[];
}

async function create(
  { client, terminal }: Session,
  flags: OutputFlags,
  body: Body<'POST /sequences/'>,
): Promise<void> {
  const made = await (await client()).call('POST /sequences/', { body });
  await printOne(terminal, flags, made, `created sequence ${made.id} ${made.name}\n`);
}

const forUpload = ({ name, graphs }: Answer<'GET /sequences/:id'>) => ({ name, graphs });

/** Tables show only the types. */
const withTypes =
  ({ format }: OutputFlags) =>
  (sequence: Answer<'GET /sequences/:id'>): object =>
    format === 'table' || format === 'csv'
      ? { ...sequence, graphs: sequence.graphs.map(({ type }) => type).join(', ') }
      : sequence;

/** A mapping read from a file of YAML or JSON. @throws CliError with its place */
async function mappingIn(session: Session, file: string): Promise<Record<string, unknown>> {
  const { readDataFile } = await import('../data-file.ts');
  const value = await readDataFile(file, session.terminal);
  if (!isMapping(value)) throw usageError(`${file} must be a mapping`, 'Write name and graphs.');
  return value as Record<string, unknown>;
}
