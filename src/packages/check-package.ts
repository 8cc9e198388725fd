import { type DataNode, items, type MappingNode } from '../documents/reader/data-node.ts';
import { checkReleases } from './check-releases.ts';
import { isTruthy, type JsonValue, toJson } from './data-node.ts';
import { type LoadedPackage, loadPackage } from './load-package.ts';
import type { PackageFormat } from './package-format.ts';
import type { PackageTree } from './package-tree.ts';
import { type PackageDiagnostic, Problems } from './problems.ts';
import { metadataShape } from './schema/metadata.ts';
import {
  COMPONENTS,
  ENVIRONMENT,
  ENVIRONMENT_ATTRIBUTE,
  environmentMetadata,
  INTERFACE_ATTRIBUTES,
  NETWORK_ROLES,
  NODE_ATTRIBUTES,
  NODE_ROLES,
  VOLUMES,
} from './schema/parts.ts';
import { checkShape, type Shape } from './schema/shape.ts';
import { checkDeploymentTasks, checkLegacyTasks } from './schema/tasks.ts';

/** The result of `sitewright package check`. */
export interface PackageReport {
  readonly verdict: 'valid' | 'invalid';
  readonly errors: readonly PackageDiagnostic[];
  readonly warnings: readonly PackageDiagnostic[];
  /** The data of the package as one value; null when metadata.yaml cannot be read. */
  readonly tree: JsonValue;
  readonly loaded: LoadedPackage;
}

/**
 * Loads a package and checks it against the rules of its `package_version`. Reports every problem at
 * once, each with file, line and path. Pure. Never throws for an invalid package.
 */
export function checkPackage(tree: PackageTree): PackageReport {
  const loaded = loadPackage(tree);
  const problems = new Problems();
  const { root, metadata, format } = loaded;
  if (root && metadata && format) {
    checkMetadata(metadata, root, format, problems);
    checkFiles(root, format, loaded.fixedFiles, problems);
    if (format.version === '5.0.0') checkReleases({ ...loaded, root }, problems);
  }
  const all = withoutRepeats([...loaded.problems, ...problems.list]);
  const errors = all.filter(({ severity }) => severity === 'error');
  return {
    verdict: errors.length === 0 ? 'valid' : 'invalid',
    errors,
    warnings: all.filter(({ severity }) => severity !== 'error'),
    tree: root ? toJson(root) : null,
    loaded,
  };
}

function checkMetadata(metadata: MappingNode, root: MappingNode, format: PackageFormat, problems: Problems): void {
  // Records before 5.0.0 use `os`, which the tree renames. In 5.0.0 any part may come from a file.
  checkShape(format.version === '5.0.0' ? root : metadata, metadataShape(format.version), [], problems);
  checkFuelVersion(metadata, format, problems);
  checkPackageVersionNumber(metadata, problems);
}

const FUEL_VERSION = /^\d+\.\d+(?:\.\d+)?(?:[ab]\d+)?$/;

function checkFuelVersion(metadata: MappingNode, format: PackageFormat, problems: Problems): void {
  const entry = metadata.entries.get('fuel_version');
  if (!entry) return;
  if (format.version === '5.0.0') {
    problems.at(entry.key, ['fuel_version'], {
      severity: 'warning',
      code: 'package.deprecated-fuel-version',
      message: '"fuel_version" is deprecated: nothing reads it',
      hint: 'Remove it.',
    });
  }
  const tooOld: DataNode[] = [];
  for (const [index, item] of items(entry.value).entries()) {
    if (item.kind !== 'text') continue;
    const version = String(item.value);
    if (!FUEL_VERSION.test(version)) {
      problems.at(item, ['fuel_version', index], {
        code: 'package.fuel-version-form',
        message: `'${version}' is not a version of Fuel: write two or three numbers separated by dots`,
        hint: `Write it like '${format.lowestFuel}'.`,
      });
    } else if (isBefore(version, format.lowestFuel)) tooOld.push(item);
  }
  if (tooOld.length === 0) return;
  const versions = tooOld.map((item) => ('value' in item ? item.value : '')).join(', ');
  problems.at(tooOld[0]!, ['fuel_version'], {
    code: 'package.fuel-version-too-old',
    message: `Plugins Package v${format.version} is supported starting from Fuel v${format.lowestFuel}, not ${versions}`,
    hint:
      format.version === '5.0.0'
        ? `Remove fuel_version, which nothing reads, or write ['${format.lowestFuel}']; skeletons of the published client name 9.0.`
        : `Remove ${versions} from fuel_version, or lower package_version.`,
  });
}

function isBefore(version: string, lowest: string): boolean {
  const [left, right] = [version, lowest].map((text) =>
    text
      .replace(/[ab]\d+$/, '')
      .split('.')
      .map(Number),
  );
  for (let index = 0; index < 3; index++) {
    const difference = (left![index] ?? 0) - (right![index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  // 9.1a1 comes before 9.1.
  return /[ab]\d+$/.test(version);
}

/** `package build` needs three numbers for the name of the archive; a package that is not built may omit it. */
function checkPackageVersionNumber(metadata: MappingNode, problems: Problems): void {
  const value = metadata.entries.get('version')?.value;
  if (value?.kind !== 'text' || /^\d+\.\d+\.\d+$/.test(String(value.value))) return;
  problems.at(value, ['version'], {
    severity: 'warning',
    code: 'package.version-form',
    message: `the version '${String(value.value)}' is not three numbers separated by dots: the package cannot be built`,
    hint: "Write it like '1.0.0'.",
  });
}

const FILE_SHAPES: Readonly<Record<string, Shape>> = {
  network_roles_metadata: NETWORK_ROLES,
  roles_metadata: NODE_ROLES,
  volumes_metadata: VOLUMES,
  components_metadata: COMPONENTS,
  nic_attributes_metadata: INTERFACE_ATTRIBUTES,
  bond_attributes_metadata: INTERFACE_ATTRIBUTES,
  node_attributes_metadata: NODE_ATTRIBUTES,
};

function checkFiles(
  root: MappingNode,
  format: PackageFormat,
  fixedFiles: ReadonlyMap<string, DataNode>,
  problems: Problems,
): void {
  const latest = format.version === '5.0.0';
  for (const { name, key } of format.files) {
    // 5.0.0 also checks data that a `_path` key of metadata.yaml loads instead of a fixed file. In that version
    // empty data was never checked, except roles, which the released builder always read.
    const always = key === 'roles_metadata';
    const loaded = root.entries.get(key)?.value;
    const node = latest && !always ? loaded : (fixedFiles.get(name) ?? (latest ? loaded : undefined));
    if (!node || node.kind === 'null') continue;
    if (latest && !always && !isTruthy(node)) continue;
    const path = [key];
    if (key === 'deployment_tasks') checkDeploymentTasks(node, format.version, path, problems);
    else if (key === 'attributes_metadata') checkEnvironment(node, format, path, problems);
    else if (key === 'tasks') checkLegacyTasks(node, format.version, path, problems);
    else checkShape(node, FILE_SHAPES[key]!, path, problems);
  }
  if (latest && fixedFiles.has('tasks.yaml')) {
    problems.inFile('tasks.yaml', ['tasks'], {
      severity: 'warning',
      code: 'package.deprecated-tasks-file',
      message: 'tasks.yaml is not supported any more: its tasks are not run',
      hint: 'Move them to deployment_tasks.yaml or to a graph.',
    });
  }
}

function checkEnvironment(node: DataNode, format: PackageFormat, path: readonly string[], problems: Problems): void {
  if (!isTruthy(node) || !checkShape(node, ENVIRONMENT, path, problems)) return;
  const attributes = node.kind === 'mapping' ? node.entries.get('attributes')?.value : undefined;
  if (attributes?.kind !== 'mapping') return;
  const withGroup = format.version === '4.0.0' || format.version === '5.0.0';
  for (const [name, { value }] of attributes.entries) {
    const shape = name === 'metadata' ? environmentMetadata(withGroup) : ENVIRONMENT_ATTRIBUTE;
    checkShape(value, shape, [...path, 'attributes', name], problems);
  }
}

/** Two schemas may report the same problem at the same place. */
function withoutRepeats(problems: readonly PackageDiagnostic[]): PackageDiagnostic[] {
  const seen = new Set<string>();
  return problems.filter(({ code, file, line, column, path, message }) => {
    const identity = JSON.stringify([code, file, line, column, path, message]);
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}
