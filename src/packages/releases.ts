import { child, type DataNode, items, type MappingEntry, type MappingNode } from '../documents/reader/data-node.ts';
import { rangeOf } from '../documents/reader/source-text.ts';
import { isTruthy, withEntries } from './data-node.ts';
import type { LoadedPackage } from './load-package.ts';

/** A record of `releases:` with its place in the list. */
export interface ReleaseRecord {
  readonly index: number;
  readonly node: MappingNode;
}

/** The records that define releases, and those that extend existing ones. */
export function releaseRecords(root: MappingNode): { releases: ReleaseRecord[]; extensions: ReleaseRecord[] } {
  const releases: ReleaseRecord[] = [];
  const extensions: ReleaseRecord[] = [];
  for (const [index, node] of items(child(root, 'releases')).entries()) {
    if (node.kind !== 'mapping') continue;
    (isTruthy(child(node, 'is_release')) ? releases : extensions).push({ index, node });
  }
  return { releases, extensions };
}

/** Merges a release record into its base template: the record replaces whole top-level keys, even with null. */
export function inheritBase(record: MappingNode): MappingNode {
  const base = child(record, 'base_release');
  const own = [...record.entries].filter(([key]) => key !== 'base_release');
  if (base?.kind !== 'mapping') return withEntries(record, own);
  return withEntries(record, [...withAliasedSystem(base).entries, ...own]);
}

/** The base may use `os` for `operating_system`, as records may. */
function withAliasedSystem(base: MappingNode): MappingNode {
  const short = base.entries.get('os');
  if (!short || base.entries.has('operating_system')) return base;
  return withEntries(base, [...base.entries, ['operating_system', short]]);
}

/** Stored names of parts of a release record; other parts keep their names. */
const STORED_NAMES: Readonly<Record<string, string>> = {
  attributes: 'attributes_metadata',
  networks: 'networks_metadata',
  network_roles: 'network_roles_metadata',
  volumes: 'volumes_metadata',
  roles: 'roles_metadata',
  components: 'components_metadata',
  tags: 'tags_metadata',
};

/**
 * The releases a package defines, as stored: with inheritance applied, the stored names of their
 * parts, always `available`. `name` is `release_name`, or the older key `name` where that is absent.
 */
export function definedReleases(loaded: LoadedPackage): readonly MappingNode[] {
  if (!loaded.root) return [];
  return releaseRecords(loaded.root).releases.map(({ node }) => stored(inheritBase(node)));
}

function stored(release: MappingNode): MappingNode {
  const entries = new Map<string, MappingEntry>();
  for (const [key, entry] of release.entries) {
    const name = Object.hasOwn(STORED_NAMES, key) ? STORED_NAMES[key]! : key;
    entries.set(name, { ...entry, key: { ...entry.key, value: name } });
  }
  const name = release.entries.get('release_name');
  if (name) entries.set('name', { ...name, key: { ...name.key, value: 'name' } });
  const state: DataNode = { kind: 'text', value: 'available', ...rangeOf(release) };
  entries.set('state', { key: { ...state, kind: 'text', value: 'state' }, value: state });
  return withEntries(release, entries);
}
