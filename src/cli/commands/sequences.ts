import { isMapping } from '../../core/data/plain-value.ts';
import { type Answer, unchecked } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { releaseArgument, sequenceArgument } from '../shell/id-argument.ts';
import { type OutputFlags, yamlText } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { presentGraphRun } from './graph-execute.ts';
import { type GraphRunFlags, rolloutsOf, runOptions } from './run-request.ts';
import type { FollowFlags } from './started-run.ts';

const ID = 'id or name of the sequence';

/** `sitewright sequence …`: graphs of several types under one name, run in order. */
export function registerSequence(program: CliCommand, session: Session): void {
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
    .calls<'POST /sequences/', CreateFlags>(session, 'POST /sequences/', {
      ask: ({ flags: { release, name, type } }) => ({ body: { name, release: Number(release), ...graphsOf(type) } }),
      text: createdText,
    });

  group
    .verb('upload', 'Create a sequence from a file with name and graphs')
    .example('--release jammy --file sequence.yaml')
    .requiredOption('-r, --release <id>', 'release of the sequence', releaseArgument)
    .requiredOption('--file <file>', 'name and graphs as YAML or JSON')
    .calls<'POST /sequences/', { readonly release: string; readonly file: string }>(session, 'POST /sequences/', {
      ask: async ({ flags: { release, file } }) => ({
        body: unchecked({ ...(await mappingIn(session, file)), release: Number(release) }),
      }),
      text: createdText,
    });

  about('update', 'Rename a sequence, or change its graphs')
    .example('deploy --name rollout')
    .option('--name <name>', 'its new name')
    .option('-t, --type <types...>', 'its types of graphs, in order')
    .calls<'PATCH /sequences/:id', Partial<CreateFlags>>(session, 'PATCH /sequences/:id', {
      ask({ args: [id = ''], flags: { name, type } }) {
        if (name === undefined && type === undefined) throw usageError('nothing to change', 'Give --name or --type.');
        return { params: { id }, body: { ...(name && { name }), ...(type && graphsOf(type)) } };
      },
      text: (_updated, { args }) => `updated ${textOf(args)}\n`,
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
      const body = { cluster: Number(cluster), ...runOptions(flags), ...(await rolloutsOf(flags, session.terminal)) };
      const started = await session.call('POST /sequences/:id/execute/', { params: { id }, body });
      await presentGraphRun(session, started, flags);
    });
}

interface CreateFlags {
  readonly release: string;
  readonly name: string;
  readonly type: readonly string[];
}

const graphsOf = (types: readonly string[]) => ({ graphs: types.map((type) => ({ type })) });

const createdText = ({ id, name }: Answer<'POST /sequences/'>): string => `created sequence ${id} ${name}\n`;

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
  const { readDataFile } = await import('../shell/data-file.ts');
  const value = await readDataFile(file, session.terminal);
  if (!isMapping(value)) throw usageError(`${file} must be a mapping`, 'Write name and graphs.');
  return value as Record<string, unknown>;
}
