import { given } from '../../core/data/given.ts';
import { isMapping, kindOf, type ValuePath } from '../../core/data/plain-value.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { FormatValues } from '../fields/python-format.ts';
import type { ClusterState, OldStates } from '../fields/state.ts';
import type { EarlierChoice } from '../linking/link.ts';
import { MASTER, SYNC, type TaggedNode } from '../placing/node-resolver.ts';
import type { PlanInput } from '../plan-graph.ts';
import { type GraphProblem, Problems } from '../problem.ts';
import { checkTask, isNamed } from '../tasks/check-task.ts';
import { type Layer, type LayerName, type MergedTask, mergeLayers, type PlacedInInput } from '../tasks/merge-layers.ts';

import { type Fields, normaliseTask } from '../tasks/task.ts';
import { plainNumbers } from './plain-numbers.ts';

type ReadInput =
  | { readonly ok: true; readonly input: PlanInput; readonly problems: readonly GraphProblem[] }
  | { readonly ok: false; readonly problems: readonly GraphProblem[] };

/**
 * Reads the input of planning, one object: `tasks`, or `layers: {release, plugins, cluster}` to merge first;
 * `cluster` with `resolver` (the nodes), `deployment_info` (the state) and `formatter`; optionally `old_state`,
 * `selected_tasks`, `subgraphs`, `legacy_plugin_tasks`, and `any_choices` to repeat the choices of an earlier result.
 * Reports all problems. A misspelt key is an error; any other unknown key is a warning.
 */
export function readPlanInput(value: unknown): ReadInput {
  const problems = new Problems();
  const reader = new InputReader(problems);
  const fields = reader.mapping(value, []);
  if (fields === undefined) return { ok: false, problems: problems.all() };
  reader.keys(fields);
  const tasks = mergeLayers(reader.layers(fields), ({ at, error }) =>
    problems.error(at, error.code, error.message, error.hint),
  );
  const cluster = reader.mapping(fields.cluster, ['cluster']);
  const nodes = cluster === undefined ? [] : reader.nodes(cluster.resolver);
  const state =
    cluster === undefined ? undefined : reader.state(cluster.deployment_info, ['cluster', 'deployment_info']);
  const formatter = cluster === undefined ? {} : reader.formatter(cluster.formatter);
  const old = reader.oldStates(fields.old_state);
  const selectedTasks = reader.texts(fields.selected_tasks, ['selected_tasks']);
  const subgraphs = reader.subgraphs(fields.subgraphs);
  const anyChoices = reader.anyChoices(fields.any_choices);
  const legacyPluginTasks = reader
    .mappings(fields.legacy_plugin_tasks, ['legacy_plugin_tasks'])
    .map((task, at) => ({ task, at: ['legacy_plugin_tasks', at] }));
  if (problems.hasErrors || state === undefined) return { ok: false, problems: problems.all() };
  const input = {
    tasks,
    nodes,
    state,
    formatter,
    selectedTasks,
    subgraphs,
    legacyPluginTasks,
    anyChoices,
    ...given({ old }),
  };
  return { ok: true, input, problems: problems.all() };
}

/** Reads a graph alone: a list of tasks, or an object with `tasks` or `layers`. Returns the readable tasks in any case. */
export function readTasks(given: unknown): {
  readonly tasks: readonly MergedTask[];
  readonly problems: readonly GraphProblem[];
} {
  const problems = new Problems();
  const reader = new InputReader(problems);
  // An empty file is a graph without tasks.
  const value = given ?? [];
  const layers = Array.isArray(value)
    ? [reader.listed(value)]
    : reader.layers(reader.mapping(value, []) ?? { tasks: [] });
  const tasks = mergeLayers(layers, ({ at, error }) => problems.error(at, error.code, error.message, error.hint));
  return { tasks, problems: problems.all() };
}

const KEYS = [
  'tasks',
  'layers',
  'cluster',
  'old_state',
  'selected_tasks',
  'subgraphs',
  'legacy_plugin_tasks',
  'any_choices',
];

const LAYERS: readonly LayerName[] = ['release', 'plugins', 'cluster'];

class InputReader {
  readonly #problems: Problems;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  #bad(at: ValuePath, message: string, hint: string): undefined {
    this.#problems.error(at, 'graph.bad-input', message, hint);
    return undefined;
  }

  mapping(value: unknown, at: ValuePath): Fields | undefined {
    if (isMapping(value)) return value;
    return this.#bad(
      at,
      value === undefined ? `${at.at(-1) ?? 'the input'} is missing` : `must be a mapping, is ${kindOf(value)}`,
      'Write {"…": …}.',
    );
  }

  /** A typing error must not change the plan; a recorded case may contain more than the plan needs. */
  keys(fields: Fields): void {
    for (const key of Object.keys(fields).filter((one) => !KEYS.includes(one))) {
      const near = didYouMean(key, KEYS);
      if (near !== undefined) this.#bad([key], `unknown key '${key}'`, near);
      else this.#problems.warning([key], 'graph.unknown-key', 'is ignored', `Known: ${KEYS.join(', ')}.`);
    }
  }

  #list(value: unknown, at: ValuePath): readonly unknown[] {
    if (Array.isArray(value)) return value;
    this.#bad(
      at,
      value === undefined ? `${at.at(-1)} is missing` : `must be a list, is ${kindOf(value)}`,
      'Write […]; empty is [].',
    );
    return [];
  }

  texts(value: unknown, at: ValuePath): string[] {
    if (value === undefined || value === null) return [];
    return this.#list(value, at).flatMap((one, i) => {
      if (typeof one === 'string') return [one];
      this.#bad([...at, i], `must be text, is ${kindOf(one)}`, 'Write a name.');
      return [];
    });
  }

  mappings(value: unknown, at: ValuePath): Fields[] {
    if (value === undefined || value === null) return [];
    return this.#list(value, at).flatMap((one, i): Fields[] => {
      const found = this.mapping(one, [...at, i]);
      return found === undefined ? [] : [found];
    });
  }

  listed(tasks: readonly unknown[]): Layer {
    return { layer: 'cluster', tasks: this.#tasks(tasks, []) };
  }

  layers(fields: Fields): Layer[] {
    if (fields.layers === undefined)
      return [{ layer: 'cluster', tasks: this.#tasks(fields.tasks === null ? [] : fields.tasks, ['tasks']) }];
    if (fields.tasks !== undefined) this.#bad(['tasks'], 'both tasks and layers are present', 'Keep one of them.');
    const layers = this.mapping(fields.layers, ['layers']) ?? {};
    for (const name of Object.keys(layers)) {
      if (!(LAYERS as readonly string[]).includes(name))
        this.#bad(['layers', name], `there is no layer '${name}'`, `Use ${LAYERS.join(', ')}.`);
    }
    return LAYERS.flatMap((layer) => {
      const given = layers[layer];
      if (given === undefined || given === null) return [];
      return layer === 'plugins' ? this.#plugins(given) : [{ layer, ...this.#owner(given, ['layers', layer]) }];
    });
  }

  /** One list of tasks, or one for each plugin: a list, or `{name, path, roles, tasks}`. */
  #plugins(given: unknown): Layer[] {
    const at: ValuePath = ['layers', 'plugins'];
    const owners =
      Array.isArray(given) &&
      given.some((one) => Array.isArray(one) || (isMapping(one) && 'tasks' in one && !('id' in one)));
    if (!owners) return [{ layer: 'plugins', ...this.#owner(given, at) }];
    return this.#list(given, at).map((one, i) => ({ layer: 'plugins', ...this.#owner(one, [...at, i]) }));
  }

  #owner(given: unknown, at: ValuePath): Omit<Layer, 'layer'> {
    if (!isMapping(given)) return { tasks: this.#tasks(given, at) };
    const { name, path, roles } = given;
    return {
      tasks: this.#tasks(given.tasks, [...at, 'tasks']),
      ...(typeof name === 'string' ? { owner: name } : {}),
      ...(typeof path === 'string' ? { path } : {}),
      ...(isMapping(roles) ? { roles } : {}),
    };
  }

  #tasks(given: unknown, at: ValuePath): PlacedInInput[] {
    return this.#list(given, at).flatMap((one, i) => {
      const task = plainNumbers(one);
      const place = [...at, i];
      // A task with mistakes still has its name and its place in the order, which are checked with all others.
      return checkTask(task, place, this.#problems) || isNamed(task) ? [{ task: normaliseTask(task), at: place }] : [];
    });
  }

  nodes(given: unknown): TaggedNode[] {
    const at: ValuePath = ['cluster', 'resolver'];
    const seen = new Set<string>([MASTER, SYNC]);
    return this.#list(given, at).flatMap((one, i) => {
      const node = this.mapping(one, [...at, i]);
      if (node === undefined) return [];
      if (typeof node.uid !== 'string' && typeof node.uid !== 'number') {
        this.#bad(
          [...at, i, 'uid'],
          node.uid === undefined ? 'the node has no uid' : `uid must be text, is ${kindOf(node.uid)}`,
          'Give it an id.',
        );
        return [];
      }
      const uid = String(node.uid);
      if (seen.has(uid))
        this.#bad(
          [...at, i, 'uid'],
          `node '${uid}' is defined twice, or has a reserved name`,
          'Give each node its own id.',
        );
      seen.add(uid);
      return [{ uid, tags: this.#tagsOf(node, [...at, i]) }];
    });
  }

  /** `all_tags`, or computed from `tags` (or `roles`) and `primary_tags`. */
  #tagsOf(node: Fields, at: ValuePath): string[] {
    if (node.all_tags !== undefined) return this.texts(node.all_tags, [...at, 'all_tags']);
    const field = node.tags === undefined ? 'roles' : 'tags';
    const primary = new Set(this.texts(node.primary_tags, [...at, 'primary_tags']));
    return this.texts(node[field], [...at, field]).map((tag) => (primary.has(tag) ? `primary-${tag}` : tag));
  }

  state(from: unknown, at: ValuePath): ClusterState | undefined {
    const state = this.mapping(from, at);
    if (state === undefined) return undefined;
    const common = this.mapping(state.common, [...at, 'common']);
    const nodes = this.mapping(state.nodes, [...at, 'nodes']);
    if (common === undefined || nodes === undefined) return undefined;
    let ok = true;
    // A node whose data is null has none.
    const parts = Object.entries(nodes).filter(([, own]) => own !== null);
    for (const [name, own] of parts) if (this.mapping(own, [...at, 'nodes', name]) === undefined) ok = false;
    const facts = state.facts === undefined ? undefined : this.state(state.facts, [...at, 'facts']);
    if (!ok) return undefined;
    return {
      common,
      nodes: Object.fromEntries(parts) as Readonly<Record<string, Fields>>,
      ...given({ facts }),
    };
  }

  formatter(given: unknown): FormatValues {
    if (given === undefined || given === null) return {};
    return (plainNumbers(this.mapping(given, ['cluster', 'formatter']) ?? {}) ?? {}) as FormatValues;
  }

  oldStates(given: unknown): OldStates | undefined {
    if (given === undefined || given === null) return undefined;
    const old = this.mapping(given, ['old_state']);
    if (old === undefined) return undefined;
    const states: Record<string, ClusterState> = Object.create(null);
    for (const [name, one] of Object.entries(this.mapping(old.states ?? {}, ['old_state', 'states']) ?? {})) {
      const state = this.state(one, ['old_state', 'states', name]);
      if (state !== undefined) states[name] = state;
    }
    const tasks: Record<string, string> = Object.create(null);
    for (const [task, name] of Object.entries(this.mapping(old.tasks ?? {}, ['old_state', 'tasks']) ?? {})) {
      if (name === null) continue;
      if (typeof name === 'string' && name in states) tasks[task] = name;
      else
        this.#bad(
          ['old_state', 'tasks', task],
          `there is no state ${JSON.stringify(name)}`,
          `Use one of ${Object.keys(states).join(', ') || 'old_state.states, which is empty'}.`,
        );
    }
    return { states, tasks };
  }

  subgraphs(given: unknown): { readonly start?: readonly string[]; readonly end?: readonly string[] }[] {
    return this.mappings(given, ['subgraphs']).map((one, i) => {
      const side = (name: 'start' | 'end') =>
        one[name] === undefined || one[name] === null ? {} : { [name]: this.texts(one[name], ['subgraphs', i, name]) };
      return { ...side('start'), ...side('end') };
    });
  }

  anyChoices(given: unknown): EarlierChoice[] {
    return this.mappings(given, ['any_choices']).map(({ roles, chosen, candidates }, i) => ({
      roles: this.#list(roles, ['any_choices', i, 'roles']),
      chosen: this.texts(chosen, ['any_choices', i, 'chosen']),
      ...(candidates === undefined ? {} : { candidates: this.texts(candidates, ['any_choices', i, 'candidates']) }),
    }));
  }
}
