import { Option } from 'commander';
import { isMapping } from '../../core/data/plain-value.ts';
import { unchecked } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { releaseArgument } from '../shell/id-argument.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import { readInput } from '../shell/read-input.ts';
import type { Session } from '../shell/session.ts';

/** Tags and roles as files: DIR/{releases|clusters}_ID/NAME.FORMAT, as Fuel's clients store them. */
export interface FileFlags {
  readonly release?: string;
  readonly cluster?: string;
  readonly name: string;
  readonly format: 'json' | 'yaml';
  readonly dir: string;
}

interface Owner {
  /** As in paths: `releases` or `clusters`. */
  readonly kind: 'releases' | 'clusters';
  readonly id: string;
}

/** Adds `--release` and `--cluster` to a command. */
export const ownedBy = (command: CliCommand): CliCommand =>
  command.option('-r, --release <id>', 'release: its id or name', releaseArgument).ofCluster('cluster');

/** Adds the folder and format of the file. */
const inFile = (command: CliCommand): CliCommand =>
  command
    .fileFormat()
    .inFuelsWords(new Option('-d, --dir <folder>', 'where the file is').default('.'), '--directory <folder>');

/** Folder of the files of an owner, as Fuel's client names it. */
const folderOf = ({ kind, id }: Owner): string => `${kind}_${id}`;

/** One of -r and -e must be given. */
export function ownerOf({ release, cluster }: { readonly release?: string; readonly cluster?: string }): Owner {
  if ((release === undefined) === (cluster === undefined)) {
    throw usageError('name either a release or a cluster', 'Give one of --release ID and --cluster ID.');
  }
  return release === undefined ? { kind: 'clusters', id: cluster! } : { kind: 'releases', id: release };
}

/** A kind of object that releases and clusters own, and that files describe. */
interface DescribedKind<Flags extends FileFlags = FileFlags> {
  readonly noun: 'role' | 'tag';
  /** The owner's name in messages. */
  owner(owner: Owner): string;
  readonly deletes: string;
  /** Flags that replace the file. */
  readonly without?: {
    readonly by: string;
    options(command: CliCommand, action: 'create' | 'update'): CliCommand;
    data(flags: Flags): object | undefined;
  };
}

const EXAMPLES = { role: 'storage', tag: 'mysql' } as const;

/** Adds `create`, `update`, `download` and `delete`. */
export function registerDescribed<Flags extends FileFlags>(
  group: CliCommand,
  { client, terminal }: Session,
  { noun, owner: called, deletes, without }: DescribedKind<Flags>,
): void {
  const named = (command: CliCommand): CliCommand =>
    ownedBy(command).requiredOption('--name <name>', `name of the ${noun}`);

  for (const [action, verb] of [
    ['create', 'Create'],
    ['update', 'Change'],
  ] as const) {
    const description = `${verb} a ${noun} as DIR/OWNER_ID/NAME.FORMAT describes it${without?.by ?? ''}`;
    const command = inFile(named(group.verb(action, description).example(`--cluster lab --name ${EXAMPLES[noun]}`)));
    (without?.options(command, action) ?? command).action(async (flags: Flags) => {
      const owner = ownerOf(flags);
      const file = await describedFile(folderOf(owner), flags);
      const given = without?.data(flags);
      const body = unchecked(given ?? (await readDescribed(`${noun} '${flags.name}'`, file, flags.format)));
      const { kind, id } = owner;
      const api = await client();
      await (action === 'create'
        ? api.call(`POST /${kind}/:id/${noun}s`, { params: { id }, body })
        : api.call(`PUT /${kind}/:id/${noun}s/:name`, { params: { id, name: flags.name }, body }));
      const from = given === undefined ? ` from ${file}` : '';
      const whose = `${called(owner)} with id ${owner.id}`;
      terminal.out(`Description of ${noun} '${flags.name}' for ${whose} was ${action}d${from}\n`);
    });
  }

  inFile(
    named(
      group
        .verb('download', `Write the description of a ${noun} to a file`)
        .example(`--release jammy --name ${EXAMPLES[noun]}`),
    ),
  ).action(async (flags: FileFlags) => {
    const owner = ownerOf(flags);
    const { kind, id } = owner;
    const data = await (await client()).call(`GET /${kind}/:id/${noun}s/:name`, { params: { id, name: flags.name } });
    const file = await describedFile(folderOf(owner), flags);
    await writeDescribed(file, flags.format, data);
    const whose = `${called(owner)} id ${owner.id}`;
    terminal.out(`Description data of ${noun} '${flags.name}' within ${whose} was stored in ${file}\n`);
  });

  named(group.verb('delete', deletes).example(`--cluster lab --name ${EXAMPLES[noun]}`))
    .output()
    .action(async (flags: OutputFlags & Pick<FileFlags, 'release' | 'cluster' | 'name'>) => {
      const owner = ownerOf(flags);
      const { kind, id } = owner;
      await (await client()).call(`DELETE /${kind}/:id/${noun}s/:name`, { params: { id, name: flags.name } });
      const title = noun[0]!.toUpperCase() + noun.slice(1);
      const text = `${title} '${flags.name}' was deleted from ${called(owner)} with id ${owner.id}\n`;
      await printOne(terminal, flags, { name: flags.name, [singular(owner)]: Number(owner.id) }, text);
    });
}

export const singular = ({ kind }: Owner): 'release' | 'cluster' => (kind === 'releases' ? 'release' : 'cluster');

async function describedFile(folder: string, { name, format, dir }: FileFlags): Promise<string> {
  const { join, resolve } = await import('node:path');
  if (!/^[\w:-]+$/.test(name)) throw usageError(`'${name}' is not a name`, 'Use letters, digits, _ and -.');
  return join(resolve(dir), folder, `${name}.${format}`);
}

/** The data of such a file. */
async function readDescribed(what: string, file: string, format: FileFlags['format']): Promise<object> {
  const hint = `It describes the ${what}: download it first, or name another folder with -d.`;
  const text = await readInput(file, { hint });
  try {
    const { load } = await import('js-yaml');
    const data = format === 'json' ? (JSON.parse(text) as unknown) : load(text);
    if (isMapping(data)) return data;
  } catch (error) {
    throw usageError(`${file} is not ${format.toUpperCase()}: ${(error as Error).message.split('\n')[0]}`);
  }
  throw usageError(`${file} must contain one object`, 'Use the form that `download` writes.');
}

async function writeDescribed(file: string, format: FileFlags['format'], data: object): Promise<void> {
  const { mkdir, writeFile } = await import('node:fs/promises');
  const { dirname } = await import('node:path');
  const { dump } = await import('js-yaml');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, format === 'json' ? `${JSON.stringify(data, null, 4)}\n` : dump(data, { noRefs: true }));
}
