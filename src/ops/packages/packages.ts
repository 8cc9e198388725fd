import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import {
  baseRelease,
  checkPackage,
  PackageDiskError,
  readPackageFolder,
  writePackageArchive,
  writePackageFolder,
} from '../../packages/index.ts';
import type { PackageRecord, PluginRecord, ReleaseRecord, Store } from '../../store/index.ts';
import { asProblem, problem } from '../problem.ts';
import { Service } from '../service.ts';
import { type Applied, applyInstallation } from './apply-installation.ts';

/** An installed package with its releases and plugins. */
export interface PackageView {
  readonly package: PackageRecord;
  readonly releases: readonly ReleaseRecord[];
  readonly plugins: readonly PluginRecord[];
}

export interface InstalledPackage extends PackageView {
  readonly created: boolean;
  readonly replaced: string | null;
  readonly warnings: readonly Diagnostic[];
}

export class PackageOperations extends Service {
  readonly #masterIp = this.deps.masterIp ?? '';
  readonly #audit = (actor: string, action: string, { id, name, version }: PackageRecord) =>
    this.audit(actor, action, `package/${id}`, { name, version });

  async list(): Promise<readonly PackageView[]> {
    return Promise.all((await this.store.packages.list()).map((one) => this.#view(one)));
  }
  async get(id: number): Promise<PackageView> {
    return this.#view(await this.store.packages.get(id));
  }
  async archive(id: number): Promise<{ readonly name: string; readonly content: Uint8Array }> {
    const { name, version } = await this.store.packages.get(id);
    return { name: `${name}-${version}.tar.gz`, content: await this.store.packages.readArchive(id) };
  }
  /** Installs or updates a package from a local archive file, all or nothing. */
  async install(
    file: string,
    how: { readonly force: boolean; readonly beside?: boolean },
    actor: string,
  ): Promise<InstalledPackage> {
    const { package: record, ...rest } = await this.#install(file, how, actor);
    return { ...(await this.#view(record)), ...rest };
  }
  /** Installs the base release, if nothing was ever installed. So a removed one does not come back. */
  async installBase(): Promise<void> {
    const before = await this.store.audit.list({ action: 'package.install', limit: 1 });
    const stored = [...before.items, ...(await this.store.packages.list()), ...(await this.store.releases.list())];
    if (stored.length > 0) return;
    await withScratch(async (scratch) => {
      await writePackageFolder(baseRelease(), join(scratch, 'base'));
      await this.#install(await archiveOf(join(scratch, 'base'), scratch), { force: false }, 'sitewright');
    });
  }
  /** @throws `conflict` naming the clusters that use its releases or have its plugin enabled */
  async remove(id: number, actor: string): Promise<void> {
    const record = await this.store.packages.get(id);
    await this.store.packages.delete(id);
    await this.#audit(actor, 'package.remove', record);
  }
  /**
   * Reads packages again and updates their releases and plugins: from the package folder if they are there (new ones
   * are installed), else from the stored archives.
   *
   * @param pluginIds only the packages of these plugins; absent: all
   * @throws `not-found` for a plugin; `invalid` naming the packages that failed, after synchronising all others
   */
  async sync(pluginIds: readonly number[] | undefined, actor: string): Promise<readonly PackageView[]> {
    const wanted = pluginIds === undefined ? undefined : await packagesOf(this.store, pluginIds);
    const done = new Map<number, PackageRecord>();
    const failed: Diagnostic[] = [];
    const attempt = async (name: string, work: () => Promise<Applied | undefined>): Promise<void> => {
      try {
        const applied = await work();
        if (applied !== undefined) done.set(applied.package.id, applied.package);
      } catch (error) {
        const { code, message, hint, errors } = asProblem(error);
        if (code !== 'invalid' && code !== 'conflict') throw error;
        const given = errors ?? [{ severity: 'error', code: `package.${code}`, message, ...(hint && { hint }) }];
        failed.push(...given.map((one) => ({ ...one, file: `${name}/${one.file ?? ''}`.replace(/\/$/, '') })));
      }
    };
    await withScratch(async (scratch) => {
      for (const source of await sourcesIn(this.deps.packagesFolder)) {
        await attempt(source.name, async () => {
          const file = source.isFolder ? await archiveOf(source.path, scratch) : source.path;
          const { installation } = await this.reader.package(file);
          const known = wanted?.some((one) => one.name === installation.name) ?? true;
          return known ? await this.#install(file, { force: true }, actor) : undefined;
        });
      }
      for (const record of await this.store.packages.list()) {
        if (done.has(record.id) || (wanted !== undefined && !wanted.some(({ id }) => id === record.id))) continue;
        await attempt(`${record.name}-${record.version}`, async () => {
          const file = join(scratch, `${record.id}.tar.gz`);
          await writeFile(file, await this.store.packages.readArchive(record.id));
          return this.#install(file, { force: true, beside: true }, actor);
        });
      }
    });
    if (failed.length > 0) {
      throw problem('invalid', `packages could not be synchronised: ${failed[0]!.file}: ${failed[0]!.message}`, {
        errors: failed,
        hint: 'Correct them and synchronise again; all other packages are up to date.',
      });
    }
    return Promise.all([...done.values()].map((one) => this.#view(one)));
  }

  async #view(record: PackageRecord): Promise<PackageView> {
    const [releases, plugins] = await Promise.all([
      this.store.releases.list({ packageId: record.id }),
      this.store.plugins.list({ packageId: record.id }),
    ]);
    return { package: record, releases, plugins };
  }

  async #install(
    file: string,
    { force, beside = false }: { readonly force: boolean; readonly beside?: boolean },
    actor: string,
  ): Promise<Applied & { warnings: readonly Diagnostic[] }> {
    const read = await this.reader.package(file);
    // Not by way of the thread that read it: it would be in memory twice.
    const archive = await readFile(file);
    const applied = await this.store.atomically((within) =>
      applyInstallation(within, read, { archive, force, beside, masterIp: this.#masterIp }),
    );
    await this.#audit(actor, applied.created ? 'package.install' : 'package.update', applied.package);
    return { ...applied, warnings: read.warnings };
  }
}

/** Passes a folder that is there while the work lasts. */
async function withScratch(work: (folder: string) => Promise<void>): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'sitewright-packages-'));
  try {
    await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function packagesOf(store: Store, pluginIds: readonly number[]): Promise<readonly PackageRecord[]> {
  const plugins = await Promise.all(pluginIds.map((id) => store.plugins.get(id)));
  const ids = [...new Set(plugins.flatMap(({ packageId }) => (packageId === null ? [] : [packageId])))];
  return Promise.all(ids.map((id) => store.packages.get(id)));
}

interface PackageSource {
  readonly name: string;
  readonly path: string;
  readonly isFolder: boolean;
}

/** Folders and archives in the package folder, by name. */
async function sourcesIn(folder: string | undefined): Promise<readonly PackageSource[]> {
  if (folder === undefined) return [];
  const names = await readdir(folder).catch((error: unknown) => {
    throw problem('invalid', `the package folder cannot be read: ${(error as Error).message}`, {
      hint: 'Correct the setting packages.folder.',
    });
  });
  const found: PackageSource[] = [];
  for (const name of names.sort()) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isDirectory()) found.push({ name, path, isFolder: true });
    else if (stats?.isFile() && name.endsWith('.tar.gz')) found.push({ name, path, isFolder: false });
  }
  return found;
}

/** Makes an archive of a package folder, in `scratch`. @throws `invalid` with all problems of the package */
async function archiveOf(folder: string, scratch: string): Promise<string> {
  try {
    const tree = await readPackageFolder(folder);
    const report = checkPackage(tree);
    if (report.verdict === 'invalid') throw problem('invalid', 'the package is invalid', { errors: report.errors });
    const { name, version } = report.tree as { name: string; version: string };
    return (await writePackageArchive(tree, name, version, join(scratch, 'built'))).path;
  } catch (error) {
    if (!(error instanceof PackageDiskError)) throw error;
    throw problem('invalid', error.message, {
      hint: 'Make the folder readable, or remove it from the package folder.',
    });
  }
}
