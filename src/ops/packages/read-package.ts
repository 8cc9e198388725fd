import { stat } from 'node:fs/promises';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { checkPackageGraphs, type GraphUpload } from '../../graph/index.ts';
import {
  type ArchiveLimits,
  checkPackage,
  eachWithNodeFiles,
  PackageDiskError,
  type PackageInstallation,
  type PackageTree,
  packageInstallation,
  readPackageArchive,
  withNodeFiles,
} from '../../packages/index.ts';
import type { GraphContent } from '../../store/index.ts';
import { problem } from '../problem.ts';

type WithoutGraphs<T> = Omit<T, 'graphs'>;

/** A checked package, ready to install; plain data, which another thread may have read. */
export interface ReadPackage {
  readonly installation: Omit<PackageInstallation, 'releases' | 'plugin'> & {
    readonly releases: readonly WithoutGraphs<PackageInstallation['releases'][number]>[];
    readonly plugin: WithoutGraphs<PackageInstallation['plugin']>;
  };
  /** By type, for each release in order, and for the plugin. */
  readonly releaseGraphs: readonly ReadonlyMap<string, GraphContent>[];
  readonly pluginGraphs: ReadonlyMap<string, GraphContent>;
  readonly warnings: readonly Diagnostic[];
}

/**
 * Reads a local package archive and checks the archive, the package and its graphs.
 * @throws `invalid` with all problems, each with file, line and path
 */
export async function readPackage(path: string, limits: ArchiveLimits): Promise<ReadPackage> {
  const { tree, problems } = await reading(path, limits);
  if (tree === undefined) throw refusal(problems, 'the archive is refused');
  const report = checkPackage(tree);
  const installation = packageInstallation(report);
  if (installation === undefined) throw refusal(report.errors, 'the package is invalid');
  const graphs = checkPackageGraphs(installation);
  if (graphs.errors.length > 0) throw refusal(graphs.errors, 'graphs of the package are invalid');
  const stored = (uploads: ReadonlyMap<string, GraphUpload>) =>
    new Map([...uploads].map(([type, upload]) => [type, contentOf(upload)] as const));
  const releaseGraphs = graphs.releases.map(stored);
  const pluginGraphs = stored(graphs.plugin);
  const warnings = [...report.warnings, ...graphs.warnings];
  return { installation: withFilesOfNodes(installation, tree), releaseGraphs, pluginGraphs, warnings };
}

function contentOf({ name, node_filter, on_success, on_error, on_stop, tasks }: GraphUpload): GraphContent {
  return {
    name: name ?? null,
    nodeFilter: node_filter ?? null,
    onSuccess: (on_success as object | undefined | null) ?? null,
    onError: (on_error as object | undefined | null) ?? null,
    onStop: (on_stop as object | undefined | null) ?? null,
    tasks: (tasks ?? []) as never,
  } as GraphContent;
}

/** Plans need the hashes of folders for nodes without reading the archive. */
function withFilesOfNodes(installation: PackageInstallation, tree: PackageTree): ReadPackage['installation'] {
  const { graphs: _, ...plugin } = installation.plugin;
  return {
    ...installation,
    releases: installation.releases.map(({ graphs: _graphs, ...one }) => ({
      ...one,
      metadata: withNodeFiles(one.metadata, tree, installation),
    })),
    plugin: {
      ...plugin,
      metadata: {
        ...plugin.metadata,
        releases: eachWithNodeFiles(plugin.metadata.releases, tree, installation),
      },
    },
  };
}

async function reading(path: string, limits: ArchiveLimits) {
  try {
    if (!(await stat(path)).isFile()) throw new PackageDiskError(`${path} is not a file`);
    return await readPackageArchive(path, limits);
  } catch (error) {
    if (!(error instanceof PackageDiskError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
    throw problem('invalid', (error as Error).message, { hint: 'Send an archive from `sitewright package build`.' });
  }
}

function refusal(errors: readonly Diagnostic[], what: string) {
  const [first] = errors;
  const more = errors.length - 1;
  const rest = more > 0 ? `, and ${more} more` : '';
  return problem('invalid', `${what}: ${first?.message ?? 'unknown reason'}${rest}`, {
    errors,
    hint: first?.hint ?? 'Correct the package; `sitewright package check` reports the same problems without a server.',
  });
}
