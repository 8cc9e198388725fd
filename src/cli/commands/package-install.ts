import type { Answer } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { pluginListArgument } from '../shell/id-argument.ts';
import { isTabular, type OutputFlags, printOne } from '../shell/output.ts';
import { CliError, usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { formatFindings } from '../views/findings.ts';
import { onPackages } from './checked-package.ts';

type Package = Answer<'GET /packages/:id'>;

/** `sitewright package install|list|show|remove|sync`: packages of a running system. */
export function registerInstalledPackages(group: CliCommand, session: Session): void {
  const { terminal } = session;

  group
    .verb('install', 'Install or update a package, all or nothing')
    .example('myrelease-1.0.0.tar.gz')
    .argument('<package>', 'folder of the package, or an archive made by `build`')
    .example('myrelease-1.0.1.tar.gz --beside', 'next to 1.0.0, for clusters to move to it')
    .option('--force', 'allow an older version, or replace manually created objects')
    .option('--beside', 'keep other versions of its series, for clusters to move between them')
    .output()
    .action(async (path: string, flags: OutputFlags & { readonly force?: boolean; readonly beside?: boolean }) => {
      const archive = await onPackages(() => archiveOf(path));
      const installed = await session.call('POST /packages', {
        query: { ...(flags.force && { force: 1 }), ...(flags.beside && { beside: 1 }) },
        body: archive,
      });
      terminal.err(await formatFindings(installed.warnings, [], { color: terminal.color }));
      await printOne(terminal, flags, installed, installedText(installed));
    });

  group
    .verb('list', 'Installed packages')
    .example()
    .calls(session, 'GET /packages', {
      columns: ['id', 'name', 'version', 'kind', 'releases'],
      rows: (packages, { flags }) => (isTabular(flags) ? packages.map(withTexts) : packages),
    });

  group
    .verb('show', 'One installed package')
    .example('myrelease==1.0.0')
    .argument('<package>', 'id, NAME, or NAME==VERSION')
    .prints(session, ({ args: [which = ''] }) => find(session, which), {
      record: (found, { flags }) => (flags.format === 'table' ? withTexts(found) : found),
    });

  group
    .verb('remove', 'Remove a package with its releases and plugin; refused while a cluster uses them')
    .example('myrelease==1.0.0')
    .argument('<package>', 'id, NAME, or NAME==VERSION')
    .prints(
      session,
      async ({ args: [which = ''] }) => {
        const { id, name, version } = await find(session, which);
        await session.call('DELETE /packages/:id', { params: { id } });
        return { id, name, version };
      },
      { text: ({ name, version }) => `${name} ${version}: removed\n` },
    );

  group
    .verb('sync', 'Read packages again, from the folder of packages or the store, and update everything to match')
    .example()
    .argument('[plugin...]', 'ids or names of plugins (default: all packages)', pluginListArgument)
    .calls(session, 'POST /packages/sync', {
      ask: ({ args: [ids] }) => ({ body: ids === undefined || ids.length === 0 ? {} : { ids: ids as never } }),
      columns: ['id', 'name', 'version', 'releases'],
      rows: (synced, { flags }) => (isTabular(flags) ? synced.map(withTexts) : synced),
    });
}

/** Reads an archive file, or archives a folder. */
async function archiveOf(path: string): Promise<Uint8Array> {
  const { mkdtemp, readFile, rm, stat } = await import('node:fs/promises');
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFile()) return readFile(path);
  const { checkPackage, readPackageFolder, writePackageArchive } = await import('../../packages/index.ts');
  const { join } = await import('node:path');
  const { tmpdir } = await import('node:os');
  const scratch = await mkdtemp(join(tmpdir(), 'sitewright-install-'));
  try {
    const tree = await readPackageFolder(path);
    const { verdict, errors, tree: data } = checkPackage(tree);
    if (verdict === 'invalid') {
      const placed = errors.map((one) => ({ ...one, file: join(path, one.file) }));
      throw new CliError(
        {
          code: 'invalid',
          message: `${path}: the package is invalid`,
          hint: 'Correct it; `package check` reports the same.',
          errors: placed,
        },
        EXIT.invalid,
      );
    }
    const { name, version } = data as { name: string; version: string };
    const { path: archive } = await writePackageArchive(tree, name, version, scratch);
    return await readFile(archive);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function find(session: Session, which: string): Promise<Package> {
  const packages = await session.call('GET /packages');
  const [name, version] = which.split('==') as [string, string | undefined];
  const found = packages.filter((one) =>
    /^\d+$/.test(which)
      ? String(one.id) === which
      : one.name === name && (version === undefined || one.version === version),
  );
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    throw usageError(
      `there are ${found.length} versions of ${name}`,
      `Name one: ${found.map((one) => `${one.name}==${one.version}`).join(', ')}.`,
    );
  }
  throw new CliError(
    {
      code: 'not-found',
      message: `no package '${which}' is installed`,
      hint:
        packages.length === 0
          ? 'Install one: sitewright package install FILE.'
          : `Installed: ${packages.map((one) => `${one.name}==${one.version}`).join(', ')}.`,
    },
    EXIT.notFound,
  );
}

const texts = (all: Package['releases']): string =>
  all.map(({ id, name, version }) => `${name} ${version} (${id})`).join(', ');

const withTexts = (one: Package): object => ({ ...one, releases: texts(one.releases), plugins: texts(one.plugins) });

function installedText({ name, version, created, replaced, releases, plugins }: Answer<'POST /packages'>): string {
  const how = created ? 'installed' : replaced === null ? 'installed again' : `installed, replacing ${replaced}`;
  const made = [
    ...releases.map((one) => `  release ${one.id}: ${one.name} ${one.version}\n`),
    ...plugins.map((one) => `  plugin ${one.id}: ${one.name} ${one.version}\n`),
  ];
  return `${name} ${version}: ${how}\n${made.join('')}`;
}
