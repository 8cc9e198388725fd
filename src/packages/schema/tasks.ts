import { compileRegex, YaqlError } from '@sitewright/yaql';
import type { ValuePath } from '../../core/data/plain-value.ts';
import { type DataNode, items, textOf } from '../../documents/reader/data-node.ts';

import type { FormatVersion } from '../package-format.ts';
import type { Problems } from '../problems.ts';
import { checkTaskExpressions } from './expressions.ts';
import { checkShape, computed, integer, listOf, listOfText, mapping, type Shape, text } from './shape.ts';

// Tasks, with the checks of the original package tools; see docs/reference/packages.md, "Tasks".
const NAME = /^[0-9a-zA-Z_-]+$/;
const NAME_OR_ALL = /^[0-9a-zA-Z_-]+$|^\*$/;
const STAGE = /^(post_deployment|pre_deployment)(\/[-+]?([0-9]*\.[0-9]+|[0-9]+))?$/;
const PERMISSIONS = /^[0-7]{4}$/;

/** Task types allowed in deployment_tasks.yaml; graphs allow three more. */
const FILE_TYPES = [
  'copy_files',
  'group',
  'reboot',
  'shell',
  'skipped',
  'stage',
  'sync',
  'puppet',
  'upload_file',
] as const;
const GRAPH_TYPES = [...FILE_TYPES, 'move_to_bootstrap', 'master_shell', 'erase_node'] as const;

const filledText: Shape = { kind: 'text', minLength: 1 };

/** Shape of `parameters` by task type; `needed` when the task requires them. */
const PARAMETERS: Readonly<Record<string, { readonly needed: boolean; readonly shape: Shape }>> = {
  puppet: {
    needed: false,
    shape: {
      required: ['puppet_manifest', 'puppet_modules', 'timeout'],
      keys: { puppet_manifest: filledText, puppet_modules: filledText, timeout: integer, retries: integer },
    },
  },
  shell: {
    needed: false,
    shape: { required: ['cmd'], keys: { cmd: text, retries: integer, interval: integer, timeout: integer } },
  },
  copy_files: {
    needed: true,
    shape: {
      required: ['files'],
      keys: {
        files: listOf({ kind: 'mapping', required: ['src', 'dst'], keys: { src: text, dst: text } }, { minItems: 1 }),
        permissions: { kind: 'text', pattern: PERMISSIONS },
        dir_permissions: { kind: 'text', pattern: PERMISSIONS },
      },
    },
  },
  sync: { needed: true, shape: { required: ['src', 'dst'], keys: { src: text, dst: text, timeout: integer } } },
  upload_file: { needed: true, shape: { required: ['path', 'data'], keys: { path: text, data: text } } },
  reboot: { needed: false, shape: { keys: { timeout: integer } } },
};

/** `/regex/`, a name, or `*`. */
function roleProblem(severity: 'error' | 'warning') {
  return (role: string) => {
    if (!(role.startsWith('/') && role.endsWith('/'))) {
      if (NAME_OR_ALL.test(role)) return undefined;
      return {
        severity,
        code: 'package.role-pattern',
        message: `'${role}' is not a role: use letters, digits, '_' and '-', or '*', or a regular expression between slashes`,
      };
    }
    const broken = regexError(role.slice(1, -1));
    if (broken === undefined) return undefined;
    return {
      severity,
      code: 'package.role-regex',
      message: `'${role}' is not a regular expression: ${broken}`,
      hint: 'Correct the expression, or name the role without slashes.',
    };
  };
}

function regexError(source: string): string | undefined {
  try {
    // The builder's Python takes flags anywhere.
    compileRegex(source.replace(/\(\?[aiLmsux]{1,7}\)/g, ''));
    return undefined;
  } catch (error) {
    if (!(error instanceof YaqlError)) throw error;
    return error.message;
  }
}

/** Shape of one task from version 4.0.0 of the format on. */
function taskShape(types: readonly string[], roleSeverity: 'error' | 'warning', name: RegExp): Shape {
  const role: Shape = { kind: 'text', text: roleProblem(roleSeverity) };
  const roles: Shape = { oneOf: [role, listOf(role)] };
  const relation: Shape = {
    kind: 'mapping',
    required: ['name'],
    keys: {
      name: text,
      role: { oneOf: [text, { kind: 'list' }] },
      policy: { values: ['all', 'any'] },
    },
  };
  const relations = listOf(relation);
  const names = listOf({ kind: 'text', pattern: name });
  const strategy: Shape = {
    kind: 'mapping',
    required: ['type'],
    keys: { type: { values: ['parallel', 'one_by_one'] }, amount: integer },
  };
  return task(
    { kind: 'text', pattern: NAME_OR_ALL },
    {
      type: { values: types },
      version: { kind: 'text', pattern: /^\d{1,20}.\d{1,20}.\d{1,20}$/ },
      role: roles,
      roles,
      groups: roles,
      requires: names,
      required_for: names,
      'cross-depends': relations,
      'cross-depended-by': relations,
      stage: { kind: 'text', pattern: STAGE },
      tasks: listOf({ kind: 'text', pattern: NAME_OR_ALL }),
      reexecute_on: listOf({ values: ['deploy_changes'] }),
      parameters: { kind: 'mapping', keys: { strategy } },
    },
  );
}

/** Expressions may compute every field but `id` (spec 2). */
const task = (id: Shape, fields: Readonly<Record<string, Shape>>): Shape => ({
  kind: 'mapping',
  required: ['id', 'type'],
  keys: { id, ...computed({ keys: fields }).keys },
});

// Released tools check role patterns in deployment_tasks.yaml but not in graphs, so packages with
// broken ones in graphs exist: only warn there.
const fileTask = taskShape(FILE_TYPES, 'error', NAME_OR_ALL);
// Before 5.0.0, task names in `requires` and `required_for` could not contain '*'.
const fileTask4 = taskShape(FILE_TYPES, 'error', NAME);
const graphTask = taskShape(GRAPH_TYPES, 'warning', NAME_OR_ALL);

/** One graph of a release; no other keys are allowed. */
export const GRAPH: Shape = {
  kind: 'mapping',
  // An empty file is a graph without tasks.
  keys: { name: text, type: text, tasks: { oneOf: [listOf(graphTask), { kind: 'null' }] }, metadata: mapping },
  closed: true,
};

const group3: Shape = listOf({ kind: 'text', pattern: NAME });
const role3: Shape = { oneOf: [group3, { values: ['*', 'master'] }] };

const fileTask3 = task(
  { kind: 'text', pattern: NAME },
  { type: { values: FILE_TYPES }, required_for: group3, requires: group3 },
);

/** Version 3.0.0: types that need a `role`, and those that may have one. */
const ROLE_NEEDED_3: ReadonlySet<string> = new Set(['shell', 'group', 'copy_files', 'sync', 'upload_file']);

/** Checks the tasks of deployment_tasks.yaml: first the common shape, then the needs of each type. */
export function checkDeploymentTasks(
  node: DataNode,
  version: FormatVersion,
  path: ValuePath,
  problems: Problems,
): void {
  const shape = version === '3.0.0' ? fileTask3 : version === '4.0.0' ? fileTask4 : fileTask;
  checkShape(node, listOf(shape), path, problems);
  const expressions = problems.separate();
  checkTaskExpressions(node, path, expressions);
  // Fuel took packages of earlier formats without parsing expressions: an error shows when a plan has the task.
  for (const problem of expressions.list)
    problems.add(version === '3.0.0' || version === '4.0.0' ? { ...problem, severity: 'warning' } : problem);
  for (const [index, task] of items(node).entries()) {
    if (task.kind !== 'mapping') continue;
    const here = [...path, index];
    checkShape(task, computed(typeShape(task, version)), here, problems);
    if (version !== '3.0.0') warnOfNoRole(task, here, problems);
  }
}

/** Requirements of a task of this type beyond the common shape, whose problems are not repeated. */
function typeShape(task: DataNode & { kind: 'mapping' }, version: FormatVersion): Shape {
  const type = textOf(task.entries.get('type')?.value) ?? '';
  const own = Object.hasOwn(PARAMETERS, type) ? PARAMETERS[type] : undefined;
  const parameters = task.entries.get('parameters')?.value;
  const isMapping = parameters?.kind === 'mapping';
  if (version !== '3.0.0') {
    return {
      required: own?.needed ? ['parameters'] : [],
      keys: { ...(own && isMapping && { parameters: own.shape }) },
    };
  }
  const usesRole = type === 'puppet' || ROLE_NEEDED_3.has(type);
  const strategy: Shape = {
    keys: { strategy: { kind: 'mapping', keys: { type: { values: ['parallel', 'one_by_one'] } } } },
  };
  const shape3 = type === 'group' ? strategy : own?.shape;
  return {
    required: [...(ROLE_NEEDED_3.has(type) ? ['role'] : []), ...(own?.needed ? ['parameters'] : [])],
    keys: {
      ...(usesRole && { role: role3 }),
      ...(type === 'puppet' && { groups: group3 }),
      ...(shape3 && { parameters: { kind: 'mapping', ...shape3 } }),
    },
  };
}

function warnOfNoRole(task: DataNode & { kind: 'mapping' }, path: ValuePath, problems: Problems): void {
  const type = textOf(task.entries.get('type')?.value);
  if (type === 'stage' || ['roles', 'groups', 'role', 'tags'].some((key) => task.entries.has(key))) return;
  const id = textOf(task.entries.get('id')?.value) ?? '';
  problems.at(task, path, {
    severity: 'warning',
    code: 'package.task-without-role',
    message: `task ${id} has none of roles, groups, role and tags: it may run on no node`,
    hint: 'Say where it runs, e.g. `roles: [controller]`.',
  });
}

const count: Shape = { kind: 'integer', minimum: 0 };

/** Checks tasks.yaml. 5.0.0 no longer runs these tasks but still requires valid ones. */
export function checkLegacyTasks(node: DataNode, version: FormatVersion, path: ValuePath, problems: Problems): void {
  const first = version === '1.0.0';
  const latest = version === '5.0.0';
  const parameters: Shape = {
    kind: 'mapping',
    required: ['timeout'],
    keys: { timeout: count, ...((version === '3.0.0' || version === '4.0.0') && { retries: count }) },
  };
  const task: Shape = {
    kind: 'mapping',
    required: [...(latest ? [] : ['parameters']), 'type', 'stage', 'role'],
    keys: {
      type: { values: first ? ['puppet', 'shell'] : ['puppet', 'shell', 'reboot'] },
      parameters,
      stage: first ? { values: ['post_deployment', 'pre_deployment'] } : { kind: 'text', pattern: STAGE },
      role: { oneOf: [listOfText, { values: ['*', 'master'] }] },
    },
  };
  checkShape(node, listOf(task), path, problems);
  // The released builder checks the parameters in every version but this one.
  if (version === '3.0.0') return;
  const own: Readonly<Record<string, Shape>> = {
    puppet: { required: ['puppet_modules', 'puppet_manifest'], keys: { puppet_modules: text, puppet_manifest: text } },
    shell: { required: ['cmd'], keys: { cmd: text } },
  };
  for (const [index, item] of items(node).entries()) {
    if (item.kind !== 'mapping') continue;
    const type = textOf(item.entries.get('type')?.value) ?? '';
    const given = item.entries.get('parameters')?.value;
    if (given?.kind === 'mapping' && Object.hasOwn(own, type)) {
      checkShape(given, own[type]!, [...path, index, 'parameters'], problems);
    }
  }
}
