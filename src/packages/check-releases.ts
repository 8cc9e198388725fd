import { given } from '../core/data/given.ts';
import type { ValuePath } from '../core/data/plain-value.ts';
import { checkSchema, packageChecksSchema } from '../documents/index.ts';
import { child, type DataNode, items, type MappingNode, nearestPlace, textOf } from '../documents/reader/data-node.ts';
import { isNull, isTruthy, toJson } from './data-node.ts';
import type { LoadedPackage } from './load-package.ts';
import { type Problems, printNodePath } from './problems.ts';
import { inheritBase, type ReleaseRecord, releaseRecords } from './releases.ts';
import { checkGraphExpressions } from './schema/expressions.ts';
import { COMPONENTS, NETWORK_ROLES, NODE_ROLES, VOLUMES } from './schema/parts.ts';
import { checkShape, listOf, type Shape } from './schema/shape.ts';
import { GRAPH } from './schema/tasks.ts';

/** Graph types every release should have: without them "Deploy changes" has nothing to run. */
const EXPECTED_GRAPHS = ['default', 'provisioning', 'deletion', 'network_verification'] as const;

/** Keys that are read from an extension record; the specification ignores all others. */
const EXTENSION_KEYS: ReadonlySet<string> = new Set([
  'os',
  'operating_system',
  'version',
  'is_release',
  'mode',
  'modes',
  'deployment_scripts_path',
  'repository_path',
  'graphs',
]);

/** The rules for records of `releases:` in packages of version 5.0.0. */
export function checkReleases(loaded: LoadedPackage & { root: MappingNode }, problems: Problems): void {
  const { root } = loaded;
  const records = releaseRecords(root);
  for (const record of [...records.releases, ...records.extensions].sort((a, b) => a.index - b.index)) {
    warnOfModes(record, problems);
    checkGraphs(record, problems);
  }
  const builderTemplate = isBuilderTemplate(records.releases, records.extensions.length);
  for (const record of records.releases) checkRelease(record, root, builderTemplate, problems);
  for (const record of records.extensions) warnOfIgnoredKeys(record, problems);
  refuseDifferingGraphs(records.extensions, problems);
  if (records.releases.length > 0) checkTogether(records, root, builderTemplate, problems);
  checkRootGraphs(root, problems);
  checkChecks(root, [], problems);
}

/**
 * The template of the one builder that knew release packages: its release has `name` and no `release_name`,
 * next to extension records. Packages made from it were valid, and still are, with warnings.
 */
const isBuilderTemplate = (releases: readonly ReleaseRecord[], extensions: number): boolean =>
  extensions > 0 &&
  releases.length > 0 &&
  releases.every(({ node }) => !node.entries.has('release_name') && textOf(child(node, 'name')) !== undefined);

function checkTogether(
  { releases, extensions }: ReturnType<typeof releaseRecords>,
  root: MappingNode,
  builderTemplate: boolean,
  problems: Problems,
): void {
  if (extensions.length > 0) {
    const { index, node } = extensions[0]!;
    problems.at(node, ['releases', index], {
      severity: builderTemplate ? 'warning' : 'error',
      code: 'package.release-beside-extension',
      message: 'the package both defines a release and extends others; only one is allowed',
      hint: 'Move the records without is_release to a separate package.',
    });
  }
  if (releases.length > 1) {
    const { index, node } = releases[1]!;
    problems.at(node, ['releases', index], {
      severity: 'warning',
      code: 'package.several-releases',
      message: `the package defines ${releases.length} releases; they can only be updated together`,
      hint: 'Put each release in a separate package.',
    });
  }
  const flag = root.entries.get('is_hotpluggable');
  if (flag) {
    problems.at(flag.key, ['is_hotpluggable'], {
      severity: 'warning',
      code: 'package.hotpluggable-ignored',
      message: 'is_hotpluggable is ignored in a package that defines a release',
      hint: 'Remove it.',
    });
  }
}

function checkRelease(
  { index, node }: ReleaseRecord,
  root: MappingNode,
  builderTemplate: boolean,
  problems: Problems,
): void {
  const path: ValuePath = ['releases', index];
  const base = child(node, 'base_release');
  if (base && base.kind !== 'mapping' && base.kind !== 'null') {
    problems.at(base, [...path, 'base_release'], {
      code: 'package.base-not-mapping',
      message: 'a base template must be a mapping of release keys',
      hint: 'Its keys are those of a release: roles, networks, graphs, …',
    });
  }
  const whole = inheritBase(node);
  for (const key of ['release_name', 'description', 'operating_system', 'version']) {
    checkRequired(whole, key, path, builderTemplate && key === 'release_name', problems);
  }
  const flag = child(node, 'is_release');
  if (flag && !(flag.kind === 'boolean' && flag.value === true)) {
    problems.at(flag, [...path, 'is_release'], {
      severity: 'warning',
      code: 'package.is-release-form',
      message: 'is_release is taken as true',
      hint: 'Write `is_release: true`.',
    });
  }
  const name = textOf(child(whole, 'release_name')) ?? textOf(child(whole, 'name'));
  const plugin = textOf(child(root, 'name'));
  if (name !== undefined && name !== plugin) {
    problems.at(child(whole, 'release_name') ?? node, [...path, 'release_name'], {
      severity: 'warning',
      code: 'package.name-mismatch',
      message: `the release is called '${name}' and the package ${plugin === undefined ? 'has no name' : `'${plugin}'`}`,
      hint: 'Give both the same name.',
    });
  }
  checkChecks(whole, path, problems);
  warnOfMissingGraphs(whole, path, problems);
  warnOfParts(node, path, problems);
}

const PART_SHAPES: Readonly<Record<string, Shape>> = {
  roles: NODE_ROLES,
  volumes: VOLUMES,
  network_roles: NETWORK_ROLES,
  components: COMPONENTS,
};

/** No tool ever checked the parts of a release, so packages with invalid ones exist: only warn. */
function warnOfParts(release: MappingNode, path: ValuePath, problems: Problems): void {
  const found = problems.separate();
  for (const [key, shape] of Object.entries(PART_SHAPES)) {
    const part = child(release, key);
    if (part && part.kind !== 'null') checkShape(part, shape, [...path, key], found);
  }
  for (const problem of found.list) problems.add({ ...problem, severity: 'warning' });
  const roles = child(release, 'roles');
  const tags = child(release, 'tags');
  if (roles?.kind !== 'mapping' || tags?.kind !== 'mapping') return;
  for (const [role, { value }] of roles.entries) {
    for (const [index, tag] of items(child(value, 'tags')).entries()) {
      const name = textOf(tag);
      if (name === undefined || name === role || tags.entries.has(name)) continue;
      problems.at(tag, [...path, 'roles', role, 'tags', index], {
        severity: 'warning',
        code: 'package.role-tag-unknown',
        message: `the tag '${name}' of role '${role}' is not among the tags of the release`,
        hint: `Add \`${name}: {has_primary: false}\` to the tags.`,
      });
    }
  }
}

function checkRequired(release: MappingNode, key: string, path: ValuePath, lenient: boolean, problems: Problems): void {
  const value = child(release, key);
  const here = [...path, key];
  if (isNull(value) || (value?.kind === 'text' && value.value === '')) {
    const renamed =
      key === 'release_name' && release.entries.has('name') ? 'Rename the key `name` to `release_name`.' : undefined;
    problems.at(value ?? release, here, {
      severity: lenient ? 'warning' : 'error',
      code: 'package.release-field',
      message: `a release must have ${key === 'operating_system' ? 'operating_system (or os)' : key}`,
      hint: renamed ?? `Add \`${key}:\` to the record or to its base template.`,
    });
  } else if (value && value.kind !== 'text') {
    const scalar = 'value' in value;
    problems.at(value, here, {
      severity: scalar ? 'warning' : 'error',
      code: 'package.release-field-kind',
      message: `${key} of a release must be text`,
      hint: scalar ? 'Put it in quotes.' : 'Write one text.',
    });
  }
}

function warnOfModes({ index, node }: ReleaseRecord, problems: Problems): void {
  for (const key of ['mode', 'modes']) {
    const entry = node.entries.get(key);
    if (!entry) continue;
    problems.at(entry.key, ['releases', index, key], {
      severity: 'warning',
      code: 'package.deprecated-mode',
      message: `'${key}' is deprecated and will be removed`,
      hint: 'Remove it.',
    });
  }
}

function warnOfIgnoredKeys({ index, node }: ReleaseRecord, problems: Problems): void {
  for (const [key, entry] of node.entries) {
    if (EXTENSION_KEYS.has(key) || entry.key.kind !== 'text') continue;
    problems.at(entry.key, ['releases', index, key], {
      severity: 'warning',
      code: 'package.ignored-in-extension',
      message: `'${key}' is ignored: this record extends a release and does not define one`,
      hint: 'Add `is_release: true` to define a release; an extension has its data in files such as node_roles.yaml.',
    });
  }
}

/**
 * A plugin has one graph of a type, for all releases it extends. Records may repeat it; where they differ, one of them
 * would be dropped.
 */
function refuseDifferingGraphs(extensions: readonly ReleaseRecord[], problems: Problems): void {
  const first = new Map<string, { readonly index: number; readonly content: string }>();
  for (const { index, node } of extensions) {
    for (const [at, graph] of items(child(node, 'graphs')).entries()) {
      const type = textOf(child(graph, 'type'));
      if (type === undefined) continue;
      const content = JSON.stringify(toJson(graph));
      const other = first.get(type);
      if (other === undefined) first.set(type, { index, content });
      else if (other.index !== index && other.content !== content) {
        problems.at(child(graph, 'type') ?? graph, ['releases', index, 'graphs', at, 'type'], {
          code: 'package.graphs-differ',
          message: `releases[${other.index}] has another graph of the type '${type}', and a plugin has one graph of a type for all releases it extends`,
          hint: 'Name the same tasks_path in both, with conditions where releases differ, or make a package of each record.',
        });
      }
    }
  }
}

function checkGraphs({ index, node }: ReleaseRecord, problems: Problems): void {
  const path: ValuePath = ['releases', index, 'graphs'];
  checkGraphExpressions(child(inheritBase(node), 'graphs'), path, problems);
  const graphs = child(node, 'graphs');
  if (!graphs) return;
  checkShape(graphs, listOf(GRAPH), path, problems);
  if (graphs.kind === 'list') warnOfGraphTypes(graphs.items, path, problems);
}

function warnOfGraphTypes(graphs: readonly DataNode[], path: ValuePath, problems: Problems): void {
  const seen = new Set<string>();
  for (const [at, graph] of graphs.entries()) {
    if (graph.kind !== 'mapping') continue;
    const type = textOf(child(graph, 'type'));
    if (!graph.entries.has('type')) {
      problems.at(graph, [...path, at, 'type'], {
        severity: 'warning',
        code: 'package.graph-without-type',
        message: 'this graph has no type and cannot be run',
        hint: `Add \`type:\`, e.g. ${EXPECTED_GRAPHS.join(', ')}.`,
      });
    } else if (type !== undefined && seen.has(type)) {
      problems.at(graph, [...path, at, 'type'], {
        severity: 'warning',
        code: 'package.graph-type-twice',
        message: `a second graph of the type '${type}' replaces the one above`,
        hint: 'Give each graph its own type.',
      });
    }
    if (type !== undefined) seen.add(type);
    refuseTaskIds(graph, [...path, at, 'tasks'], problems);
  }
}

function refuseTaskIds(graph: MappingNode, path: ValuePath, problems: Problems): void {
  const tasks = child(graph, 'tasks');
  if (tasks?.kind !== 'list') return;
  const seen = new Set<string>();
  for (const [at, task] of tasks.items.entries()) {
    const id = textOf(child(task, 'id'));
    if (id === undefined) continue;
    if (seen.has(id)) {
      problems.at(child(task, 'id')!, [...path, at, 'id'], {
        code: 'package.task-twice',
        message: `this graph has a second task '${id}'`,
        hint: 'Rename one of them.',
      });
    }
    seen.add(id);
  }
}

/** Only for a release with graphs: one without any may get its tasks from plugins. */
function warnOfMissingGraphs(release: MappingNode, path: ValuePath, problems: Problems): void {
  const graphs = child(release, 'graphs');
  if (graphs?.kind !== 'list') return;
  const types = new Set(graphs.items.map((graph) => textOf(child(graph, 'type'))));
  const missing = EXPECTED_GRAPHS.filter(
    (type) => !types.has(type) && !(type === 'default' && isTruthy(child(release, 'deployment_tasks'))),
  );
  if (missing.length === 0) return;
  problems.at(graphs, [...path, 'graphs'], {
    severity: 'warning',
    code: 'package.graph-type-missing',
    message: `the release has no graph of the type ${missing.join(', ')}`,
    hint: 'Every release should have one of each; otherwise the actions of that name do nothing.',
  });
}

/** No tool ever checked the graphs of the plugin itself: but for a task that would be lost, problems are only warnings. */
function checkRootGraphs(root: MappingNode, problems: Problems): void {
  const graphs = child(root, 'graphs');
  if (!graphs) return;
  const found = problems.separate();
  checkShape(graphs, listOf(GRAPH), ['graphs'], found);
  checkGraphExpressions(graphs, ['graphs'], found);
  if (graphs.kind === 'list') warnOfGraphTypes(graphs.items, ['graphs'], found);
  for (const problem of found.list)
    problems.add(problem.code === 'package.task-twice' ? problem : { ...problem, severity: 'warning' });
}

/** `checks` beside graphs. */
function checkChecks(owner: DataNode, path: ValuePath, problems: Problems): void {
  const checks = child(owner, 'checks');
  if (isNull(checks)) return;
  const read = checkSchema(packageChecksSchema, toJson(checks!), { at: ['checks'] });
  if (read.ok) return;
  for (const { path: below, part, code, message, hint } of read.problems) {
    const { file, line, column } = nearestPlace(owner, below, part);
    const at = printNodePath([...path, ...below]);
    problems.add({ severity: 'error', code, message, ...given({ hint }), file, line, column, path: at });
  }
}
