import type { ValuePath } from '../core/data/plain-value.ts';
import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { someOf } from '../core/text/text.ts';
import type { PackageInstallation } from '../packages/index.ts';
import { checkGraphUpload, type GraphUpload } from './graph-upload.ts';
import type { GraphTask } from './tasks/task.ts';

type InstalledGraphs = PackageInstallation['plugin']['graphs'];

/** The graphs of a package, and what is wrong with them, each with its place in the package. */
export interface PackageGraphs {
  /** By type, for each release in order, and for the plugin. */
  readonly releases: readonly ReadonlyMap<string, GraphUpload>[];
  readonly plugin: ReadonlyMap<string, GraphUpload>;
  readonly errors: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

/** What gives nodes names by which tasks find them: roles, and tags. */
interface Provided {
  readonly roles: object;
  readonly tags: object;
}

/** Unknown names that are compared with all known ones. */
const MAX_SUGGESTIONS = 100;

/**
 * Checks the graphs of a package as an upload of each would be checked, and the names in them: a tag or role of a task
 * that the package does not provide, and a dependency that names no task. A plugin's tasks may mean those of the releases
 * that it extends: names that it does not have are reported there only if they are nearly its own.
 */
export function checkPackageGraphs(installation: PackageInstallation): PackageGraphs {
  const errors: Diagnostic[] = [];
  const warnings: Diagnostic[] = [];
  const { plugin } = installation;
  const isRelease = installation.kind === 'release';
  const read = (graphs: InstalledGraphs, provided: readonly Provided[]): ReadonlyMap<string, GraphUpload> => {
    const names = namesOf(provided);
    return new Map(
      graphs.map(({ type, body, locate }) => {
        const { upload, problems } = checkGraphUpload(body);
        for (const { at, ...one } of problems) {
          // The check of the package has named them, as errors where its format has them as such.
          if (one.code === 'graph.bad-yaql' && at[0] === 'tasks') continue;
          if (one.code === 'graph.unknown-dependency' && !isRelease && one.hint?.startsWith('Did you mean') !== true)
            continue;
          const { path, place } = locate(at);
          const isListed = path.includes('graphs[');
          // As above: the check of the package has named these.
          if (isListed && (one.code === 'graph.duplicate-task' || isRolePattern(one.code, at))) continue;
          // No tool has ever refused a graph at the root of a package.
          const severity = path.startsWith('graphs[') ? 'warning' : one.severity;
          (severity === 'error' ? errors : warnings).push({ ...one, ...place, severity, path });
        }
        for (const { at, ...one } of unknownPlaces(upload.tasks ?? [], names, isRelease)) {
          const { path, place } = locate(['tasks', ...at]);
          warnings.push({ ...one, ...place, path });
        }
        if (!/^[A-Za-z0-9_-]+$/.test(type))
          errors.push({
            severity: 'error',
            code: 'package.graph-type',
            message: `'${type.slice(0, 60)}' is not a valid graph type`,
            hint: 'Use letters, digits, _ and -.',
            ...{ file: 'metadata.yaml', line: 1 },
          });
        return [type, upload];
      }),
    );
  };
  const releases = installation.releases.map((release) => read(release.graphs, [release, plugin]));
  return { releases, plugin: read(plugin.graphs, [plugin, ...installation.releases]), errors, warnings };
}

const ROLE_FIELDS: readonly unknown[] = ['role', 'roles', 'groups'];

const isRolePattern = (code: string, [, , field]: ValuePath): boolean =>
  code === 'graph.bad-regex' && ROLE_FIELDS.includes(field);

const namesOf = (provided: readonly Provided[]): ReadonlySet<string> =>
  new Set(provided.flatMap(({ roles, tags }) => [...Object.keys(roles), ...Object.keys(tags)]));

/** Names by which every cluster has nodes, or which are no nodes at all. */
const ALWAYS: ReadonlySet<string> = new Set(['*', 'master', 'self', 'primary']);

const FIELDS = ['tags', 'roles', 'groups'] as const;

type Finding = Diagnostic & { readonly at: readonly (string | number)[] };

/** Tags, roles and groups of tasks that nothing provides, once each, at the first task. */
function unknownPlaces(tasks: readonly GraphTask[], provided: ReadonlySet<string>, isRelease: boolean): Finding[] {
  const groups = new Set(tasks.flatMap(({ id, type }) => (type === 'group' ? [id] : [])));
  const known = [...provided, ...groups];
  const users = new Map<string, { readonly at: readonly (string | number)[]; readonly ids: string[] }>();
  for (const [index, task] of tasks.entries())
    for (const field of FIELDS) {
      const names = task[field];
      // The name alone is a list of one.
      for (const [position, name] of (Array.isArray(names) ? (names as readonly unknown[]) : [names]).entries()) {
        if (typeof name !== 'string' || !isPlain(name) || isKnown(name, provided, groups)) continue;
        const use = users.get(name) ?? { at: [index, field, position], ids: [] };
        use.ids.push(task.id);
        users.set(name, use);
      }
    }
  let suggestions = MAX_SUGGESTIONS;
  return [...users].flatMap(([name, { at, ids }]) => {
    // The releases that a plugin extends have names of their own, which may be like its own: a suggestion would be wrong.
    if (!isRelease) return [];
    const meant = suggestions-- > 0 ? didYouMean(name, known) : undefined;
    return [
      {
        ...({ severity: 'warning', code: 'package.unknown-tag', at } as const),
        message: `no role and no tag of the package is named '${name}'; used by ${someOf(ids, 3)}`,
        hint:
          meant ??
          'Correct the name, or define the tag or the role: the task is on no node that has nothing of this name.',
      },
    ];
  });
}

/** Neither a pattern nor an expression nor an instance of a tag, such as `mysql:1`. */
const isPlain = (name: string): boolean => /^[\w-]+$/.test(name) && !ALWAYS.has(name);

const isKnown = (name: string, provided: ReadonlySet<string>, groups: ReadonlySet<string>): boolean =>
  provided.has(name) ||
  groups.has(name) ||
  (name.startsWith('primary-') && provided.has(name.slice('primary-'.length)));
