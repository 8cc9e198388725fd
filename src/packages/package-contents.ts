import type { PackageReport } from './check-package.ts';
import { type JsonValue, toJson } from './data-node.ts';
import type { FormatVersion } from './package-format.ts';
import { definedReleases, releaseRecords } from './releases.ts';

export type JsonObject = { [key: string]: JsonValue };

/** Data stored by installing a package. */
interface PackageContents {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly packageVersion: FormatVersion;
  /**
   * The plugin under the keys of the data tree (`roles_metadata`, `deployment_tasks`, `graphs`, …),
   * without nulls. `releases` has only the extension records. `tasks` and `attributes_metadata`
   * are always present, so that removing their files clears earlier data.
   */
  readonly plugin: JsonObject;
  /** The releases it defines: base templates applied, parts under their stored names, `state: available`. */
  readonly releases: readonly JsonObject[];
}

/** The contents of a valid package; undefined for an invalid one, which must not be installed. */
export function packageContents({ verdict, loaded }: PackageReport): PackageContents | undefined {
  const { root, format } = loaded;
  if (verdict === 'invalid' || !root || !format) return undefined;
  const tree = toJson(root) as JsonObject;
  const extensions = releaseRecords(root).extensions.map(({ node }) => toJson(node));
  const filled = Object.entries(tree).filter(([, value]) => value !== null);
  return {
    name: String(tree.name),
    version: String(tree.version),
    title: String(tree.title),
    packageVersion: format.version,
    plugin: { attributes_metadata: {}, tasks: [], ...Object.fromEntries(filled), releases: extensions },
    releases: definedReleases(loaded).map((release) => toJson(release) as JsonObject),
  };
}
