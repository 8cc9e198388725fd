import { isMapping, type ValuePath } from '../core/data/plain-value.ts';
import { child, type DataNode, items, nearestPlace } from '../documents/reader/data-node.ts';
import type { Place } from '../documents/reader/source-text.ts';
import type { PackageReport } from './check-package.ts';
import type { JsonValue } from './data-node.ts';
import { type JsonObject, packageContents } from './package-contents.ts';
import { printNodePath } from './problems.ts';

import { releaseRecords } from './releases.ts';

/** A graph to install, not yet parsed: `body` has the form of an uploaded graph. */
interface InstalledGraph {
  readonly type: string;
  readonly body: JsonObject;
  /** Where a value of the body is in the package. */
  locate(path: ValuePath): { readonly path: string; readonly place: FilePlace };
}

interface InstalledRelease {
  readonly name: string;
  readonly version: string;
  readonly operatingSystem: string;
  readonly description: string;
  readonly roles: JsonObject;
  readonly tags: JsonObject;
  /** All other parts, under their stored names. */
  readonly metadata: JsonObject;
  readonly graphs: readonly InstalledGraph[];
}

/** Objects created by installing a package. */
export interface PackageInstallation {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly packageVersion: string;
  readonly kind: 'release' | 'extension';
  readonly tree: JsonObject;
  readonly releases: readonly InstalledRelease[];
  /** Every package is listed as a plugin, even one that only defines a release. */
  readonly plugin: {
    readonly metadata: JsonObject;
    readonly roles: JsonObject;
    readonly tags: JsonObject;
    readonly graphs: readonly InstalledGraph[];
  };
}

const RELEASE_COLUMNS = new Set([
  'name',
  'release_name',
  'version',
  'operating_system',
  'description',
  'state',
  'is_release',
  'roles_metadata',
  'tags_metadata',
  'graphs',
  'deployment_tasks',
]);
const PLUGIN_COLUMNS = new Set(['name', 'title', 'version', 'package_version', 'graphs', 'deployment_tasks']);
/** Fields of a graph that packages put into its `metadata`. */
const GRAPH_METADATA = ['node_filter', 'on_success', 'on_error', 'on_stop'] as const;

/** Stored data of a valid package; undefined for an invalid one. */
export function packageInstallation(report: PackageReport): PackageInstallation | undefined {
  const contents = packageContents(report);
  const root = report.loaded.root;
  if (contents === undefined || root === undefined) return undefined;
  const { releases: defining, extensions: extending } = releaseRecords(root);
  const releases = contents.releases.map((release, at): InstalledRelease => {
    const record = defining[at]!;
    const path: ValuePath = ['releases', record.index];
    const base = child(record.node, 'base_release');
    const from = (key: string) =>
      child(record.node, key) !== undefined || base === undefined
        ? { node: child(record.node, key), path: [...path, key] }
        : { node: child(base, key), path: [...path, 'base_release', key] };
    return {
      name: textOr(release.name, contents.name),
      version: textOr(release.version, contents.version),
      operatingSystem: textOr(release.operating_system, ''),
      description: textOr(release.description, ''),
      roles: objectOr(release.roles_metadata),
      tags: objectOr(release.tags_metadata),
      metadata: without(release, RELEASE_COLUMNS),
      graphs: graphsOf(
        [{ given: release.graphs, ...from('graphs') }],
        release.deployment_tasks,
        from('deployment_tasks'),
        root,
      ),
    };
  });
  const { plugin } = contents;
  return {
    name: contents.name,
    title: contents.title,
    version: contents.version,
    packageVersion: contents.packageVersion,
    kind: releases.length > 0 ? 'release' : 'extension',
    tree: report.tree as JsonObject,
    releases,
    plugin: {
      metadata: {
        ...without(plugin, PLUGIN_COLUMNS),
        releases: (Array.isArray(plugin.releases) ? plugin.releases : []).map(withShortSystem),
      },
      roles: objectOr(plugin.roles_metadata),
      tags: objectOr(plugin.tags_metadata),
      graphs: graphsOf(
        [
          { given: plugin.graphs, node: child(root, 'graphs'), path: ['graphs'] },
          ...(Array.isArray(plugin.releases) ? plugin.releases : []).map((record, at) => {
            const { node, index } = extending[at]!;
            return { given: objectOr(record).graphs, node: child(node, 'graphs'), path: ['releases', index, 'graphs'] };
          }),
        ],
        plugin.deployment_tasks,
        { node: child(root, 'deployment_tasks'), path: ['deployment_tasks'] },
        root,
      ),
    },
  };
}

interface Located {
  readonly node: DataNode | undefined;
  readonly path: ValuePath;
}

/**
 * The graphs of a release, or of a plugin with its records, by type, the last of each type; tasks without a graph form the one of
 * type `default`.
 */
function graphsOf(
  lists: readonly (Located & { readonly given: JsonValue | undefined })[],
  deploymentTasks: JsonValue | undefined,
  tasks: Located,
  root: DataNode,
): InstalledGraph[] {
  const byType = new Map<string, InstalledGraph>();
  const listed = lists.flatMap((graphs) =>
    (Array.isArray(graphs.given) ? graphs.given : []).map((one, index) => ({ graphs, index, graph: objectOr(one) })),
  );
  for (const { graphs, index, graph } of listed) {
    if (typeof graph.type !== 'string') continue;
    const metadata = objectOr(graph.metadata);
    const body: JsonObject = {
      ...(typeof graph.name === 'string' ? { name: graph.name } : {}),
      ...Object.fromEntries(
        GRAPH_METADATA.flatMap((key) => (Object.hasOwn(metadata, key) ? [[key, metadata[key]!]] : [])),
      ),
      tasks: graph.tasks ?? [],
    };
    const node = items(graphs.node)[index];
    const path = [...graphs.path, index];
    byType.set(graph.type, {
      type: graph.type,
      body,
      locate: (below) => {
        const [first = '', ...rest] = below;
        const inMetadata = (GRAPH_METADATA as readonly unknown[]).includes(first);
        const steps = inMetadata ? ['metadata', first, ...rest] : below;
        return { path: printNodePath([...path, ...steps]), place: placeBelow(node ?? root, steps) };
      },
    });
  }
  if (!byType.has('default') && Array.isArray(deploymentTasks)) {
    byType.set('default', {
      type: 'default',
      body: { tasks: deploymentTasks },
      locate: ([, ...below]) => ({
        path: printNodePath([...tasks.path, ...below]),
        place: placeBelow(tasks.node ?? root, below),
      }),
    });
  }
  return [...byType.values()];
}

type FilePlace = Omit<Place, 'text'>;

/** The place of the deepest existing value on the path, as plain data. */
function placeBelow(node: DataNode, path: ValuePath): FilePlace {
  const { file, line, column } = nearestPlace(node, path);
  return { file, line, column };
}

/** Clients read the operating system of an extension from `os`. */
function withShortSystem(record: JsonValue): JsonValue {
  const { operating_system: system, ...rest } = objectOr(record);
  return system === undefined || rest.os !== undefined ? record : { os: system, ...rest };
}

const objectOr = (value: JsonValue | undefined): JsonObject => (isMapping(value) ? value : {});

const textOr = (value: JsonValue | undefined, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise;

const without = (value: JsonObject, keys: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)));
