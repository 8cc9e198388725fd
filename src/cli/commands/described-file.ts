import { isMapping } from '../../core/plain-value.js';
import type { CliCommand } from '../command.js';
import { idArgument } from '../id-argument.js';
import { usageError } from '../problem.js';

/** Tags and roles as files: DIR/{releases|clusters}_ID/NAME.FORMAT, as the clients of the Fuel line keep them. */
export interface FileFlags {
  readonly release?: string;
  readonly env?: string;
  readonly name: string;
  readonly format: 'json' | 'yaml';
  readonly directory: string;
}

export interface Owner {
  /** As in paths: `releases` or `clusters`. */
  readonly kind: 'releases' | 'clusters';
  readonly id: string;
}

/** Adds `--release` and `--env` to a command. */
export const ownedBy = (command: CliCommand): CliCommand =>
  command
    .option('-r, --release <id>', 'id of the release', idArgument)
    .option('-e, --env <id>', 'id of the cluster', idArgument);

/** Adds where the file is and of what form. */
export const inFile = (command: CliCommand): CliCommand =>
  command.fileFormat().option('-d, --directory <folder>', 'where the file is', '.');

/** One of -r and -e must be given. */
export function ownerOf({ release, env }: { readonly release?: string; readonly env?: string }): Owner {
  if ((release === undefined) === (env === undefined)) {
    throw usageError('name either a release or an environment', 'Give one of -r RELEASE and -e ENV.');
  }
  return release === undefined ? { kind: 'clusters', id: env! } : { kind: 'releases', id: release };
}

export async function describedFile(
  owner: Owner,
  { name, format, directory }: FileFlags,
  folder?: string,
): Promise<string> {
  const { join, resolve } = await import('node:path');
  if (!/^[\w:-]+$/.test(name)) throw usageError(`'${name}' is no name`, 'Use letters, digits, _ and -.');
  return join(resolve(directory), folder ?? `${owner.kind}_${owner.id}`, `${name}.${format}`);
}

/** The data of such a file. */
export async function readDescribed(what: string, file: string, format: FileFlags['format']): Promise<object> {
  const { readFile } = await import('node:fs/promises');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    throw usageError(
      `Could not read description for ${what} at ${file}`,
      'Download it first, or name another directory with -d.',
    );
  }
  try {
    const { load } = await import('js-yaml');
    const data = format === 'json' ? (JSON.parse(text) as unknown) : load(text);
    if (isMapping(data)) return data;
  } catch (error) {
    throw usageError(`${file} is not ${format.toUpperCase()}: ${(error as Error).message.split('\n')[0]}`);
  }
  throw usageError(`${file} must hold one object`, 'As `download` writes it.');
}

export async function writeDescribed(file: string, format: FileFlags['format'], data: object): Promise<void> {
  const { mkdir, writeFile } = await import('node:fs/promises');
  const { dirname } = await import('node:path');
  const { dump } = await import('js-yaml');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, format === 'json' ? `${JSON.stringify(data, null, 4)}\n` : dump(data, { noRefs: true }));
}
