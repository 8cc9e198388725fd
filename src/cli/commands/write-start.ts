import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { installationFile } from '../../platform/installation.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError, usageError } from '../shell/problem.ts';

type StartKind = 'site' | 'release';

interface WrittenStart {
  readonly name: string;
  readonly files: readonly string[];
  /** Commands that run it on simulated machines. */
  readonly next: readonly string[];
}

/** The examples that are copied, and the commands that use them. */
const STARTS = {
  site: {
    example: 'first-site',
    next: (name: string, folder: string) => [
      `sitewright site check ${folder}`,
      `sitewright up --simulate-maas --maas-seed ${folder}    # in another terminal; end one that runs`,
      `sitewright site create ${name}`,
      `sitewright site commit ${name} ${folder}`,
      `sitewright site deploy ${name} --watch`,
    ],
  },
  release: {
    example: 'first-release',
    next: (name: string, folder: string) => [
      `sitewright package check ${folder}`,
      `sitewright package install ${folder}`,
      `sitewright cluster create ${name}-lab --release ${name}`,
      `sitewright node register --name ${name}-1 ${name}-2 --provisioned`,
      `sitewright cluster add-nodes ${name}-lab --node ${name}-1 --roles all-in-one`,
      `sitewright cluster add-nodes ${name}-lab --node ${name}-2 --roles web`,
      `sitewright agent run --cluster ${name}-lab    # in another terminal`,
      `sitewright graph execute --cluster ${name}-lab --watch`,
    ],
  },
} as const;

/**
 * Copies an example into a new folder, under the name of that folder.
 * @throws CliError where the folder has files, or its name cannot be that of a site or package
 */
export async function writeStart(kind: StartKind, folder: string, cwd: string): Promise<WrittenStart> {
  const path = resolve(cwd, folder);
  const name = basename(path);
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name))
    throw usageError(`'${name}' cannot be the name of a ${kind}`, 'Use small letters, digits and hyphens.');
  if (existsSync(path) && (await readdir(path)).length > 0)
    throw new CliError(
      { code: 'conflict', message: `${folder} is not empty`, hint: 'Name a folder that does not exist yet.' },
      EXIT.conflict,
    );
  const { example, next } = STARTS[kind];
  await mkdir(path, { recursive: true });
  await cp(installationFile(`examples/${example}`), path, { recursive: true });
  const files = (await readdir(path, { recursive: true })).filter((file) => file.endsWith('.yaml')).sort();
  for (const file of files) await rename(join(path, file), example, name);
  return { name, files, next: next(name, folder) };
}

async function rename(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(from, to));
}
