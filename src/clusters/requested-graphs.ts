import { DEFAULT_GRAPHS, type GraphRequest, type GraphRunInput } from '../core/graph-run/input.ts';
import { actionOf, namesOfType } from '../core/graph-types.ts';
import { calledText } from '../core/names.ts';
import type { Diagnostic } from '../core/problems/diagnostic.ts';
import { BEFORE_CHANGES } from '../core/run/approval.ts';
import { type RequestRefused, requestRefused } from '../core/run/failure.ts';
import { didYouMean, unknownName } from '../core/text/did-you-mean.ts';
import { masterDenied, Problems, tasksSurelyForMaster } from '../graph/index.ts';
import type { Store, StoreError } from '../store/index.ts';
import { mergeGraph } from './graph-layers.ts';
import { readGraphsLeft } from './graphs-left.ts';
import { namesIn, requestedInMaintenance } from './node-choice.ts';
import { readGraphLayers } from './read-sources.ts';
import type { ClusterSources } from './sources.ts';
import { catalogueOfCluster } from './tags/of-sources.ts';

type RequestedGraphs =
  | { readonly ok: true; readonly graphs: readonly GraphRequest[] }
  | { readonly ok: false; readonly failure: RequestRefused };

type Ports = Pick<Store, 'graphs' | 'nodes' | 'sequences' | 'taskHistory' | 'transactions'>;

const refused = (...refusal: Parameters<typeof requestRefused>) =>
  ({ ok: false, failure: requestRefused(...refusal) }) as const;

/**
 * The graphs that an input means, in order: the named ones, those of a sequence, the rest of an earlier run, or else
 * `default`. Everything that the input names must exist: types, nodes, tasks, subgraphs, sequence and earlier run.
 * Reports all that does not.
 *
 * @param masterAllowed false: a graph that surely needs an agent on `master` is refused, too. What only a plan shows, the plan refuses
 */
export async function requestedGraphs(
  store: Ports,
  input: GraphRunInput,
  sources: ClusterSources,
  masterAllowed = true,
): Promise<RequestedGraphs> {
  const chosen = await chosenGraphs(store, input, sources);
  if (!chosen.ok) return chosen;
  const { graphs } = chosen;
  const names = new Set<string>();
  const findings: Diagnostic[] = [];
  const known = new Set((await store.graphs.typesOf(sources.cluster.id)).flatMap(namesOfType));
  for (const [index, { type, tasks: selected }] of graphs.entries()) {
    if (known.has(type)) {
      const { tasks, overlaps } = await tasksOfType(store, sources, type);
      if (overlaps.length > 0) return refused('conflict', overlaps);
      for (const { id } of tasks) names.add(id);
      if (!masterAllowed && isWhole(input)) {
        const there = tasksSurelyForMaster(tasks).filter((id) => selected?.includes(id) ?? true);
        const { at: _, ...denied } = masterDenied(there);
        if (there.length > 0) findings.push({ ...denied, path: `graphs[${index}].type` });
      }
      // Nodes can be removed from every cluster, also without a graph that undoes something on them.
    } else if (actionOf(type) !== 'delete') findings.push(unknownType(sources, type, known, `graphs[${index}].type`));
  }
  findings.push(...foreignNodes(sources, graphs));
  // Sequences and earlier runs name nodes for other days: their plans leave out what is in maintenance today.
  for (const [index, { nodes = [] }] of (input.graphs ?? []).entries())
    findings.push(...requestedInMaintenance(sources, nodes, `graphs[${index}].nodes`));
  findings.push(...unknownRoles(Object.keys(input.rollouts ?? {}), sources));
  // Without the graphs, no task is known.
  if (findings.length === 0) {
    const tasks = graphs.flatMap((graph) => graph.tasks ?? []);
    const held = (input.hold_before ?? []).filter((name) => name !== BEFORE_CHANGES);
    findings.push(
      ...unknownTasks(tasks, names, 'graphs'),
      ...unknownTasks(held, names, 'hold_before'),
      ...unknownSubgraphs(input.subgraphs ?? [], names),
    );
  }
  return findings.length === 0 ? chosen : refused('invalid', findings);
}

function unknownRoles(names: readonly string[], sources: ClusterSources): Diagnostic[] {
  const { roles } = catalogueOfCluster(sources);
  const absent = names.filter((name) => !roles.has(name));
  return absent.map((name) => ({
    ...({ severity: 'error', code: 'rollout.unknown-role' } as const),
    message: unknownName('role', name, [...roles.keys()]),
    hint: `See the roles of the cluster: sitewright role list --cluster ${sources.cluster.id}`,
    path: `rollouts.${name}`,
  }));
}

/** The tasks of a type, merged over all layers of a cluster; overlaps: plugins that define the same task. */
export async function tasksOfType(store: Pick<Store, 'graphs'>, sources: ClusterSources, type: string) {
  const problems = new Problems();
  const { tasks } = mergeGraph(await readGraphLayers(store, sources, type), problems);
  const overlaps = problems
    .all()
    .filter(({ code }) => code === 'graph.plugins-overlap')
    .map(({ at: _at, ...one }): Diagnostic => ({ ...one, hint: 'Disable one of the plugins, or rename its tasks.' }));
  return { tasks: tasks.map(({ task }) => task), overlaps };
}

/** A type without a graph in the cluster. */
export function unknownType(
  { cluster, release }: ClusterSources,
  type: string,
  known: ReadonlySet<string>,
  path: string,
): Diagnostic {
  const suggestion = didYouMean(type, known) ?? '';
  return {
    severity: 'error',
    code: 'graph.not-found',
    message: `There are no deployment tasks for graph type '${type}'. Checked cluster (ID=${cluster.id}), its plugins and release (ID=${release.id}).`,
    hint:
      known.size === 0
        ? 'There are no graphs yet. Upload one.'
        : `${suggestion} Known types: ${[...known].join(', ')}.`.trim(),
    path,
  };
}

async function chosenGraphs(store: Ports, input: GraphRunInput, sources: ClusterSources): Promise<RequestedGraphs> {
  if (input.graphs !== undefined) return { ok: true, graphs: input.graphs };
  if (input.sequence !== undefined) return graphsOfSequence(store, input.sequence, sources);
  if (input.from !== undefined) return graphsOfEarlierRun(store, input.from, sources);
  return { ok: true, graphs: DEFAULT_GRAPHS };
}

async function graphsOfSequence(store: Ports, id: number, { release }: ClusterSources): Promise<RequestedGraphs> {
  const sequence = await found(store.sequences.get(id));
  const hint = "Use a sequence of the cluster's release: GET /api/v1/sequences/?cluster=ID lists them.";
  const missing = (message: string) =>
    refused('not-found', [{ severity: 'error', code: 'graph.no-sequence', message, hint, path: 'sequence' }]);
  if (sequence === undefined) return missing(`There is no sequence ${id}.`);
  if (sequence.releaseId !== release.id)
    return missing(
      `${calledText('sequence', sequence)} belongs to release ${sequence.releaseId}, the cluster belongs to ${calledText('release', release)}`,
    );
  return { ok: true, graphs: sequence.graphs as unknown as readonly GraphRequest[] };
}

async function graphsOfEarlierRun(store: Ports, id: number, { cluster }: ClusterSources): Promise<RequestedGraphs> {
  const refuse = (code: 'not-found' | 'conflict', message: string, hint: string) =>
    refused(code, [{ severity: 'error', code: 'graph.not-continuable', message, hint, path: 'from' }]);
  const earlier = await found(store.transactions.getRun(id));
  if (earlier === undefined || earlier.run.clusterId !== cluster.id)
    return refuse(
      'not-found',
      `run ${id} is not of ${calledText('cluster', cluster)}`,
      `List its runs: sitewright run list --cluster ${cluster.id}`,
    );
  const left = await readGraphsLeft(store, earlier);
  return left.ok ? left : refuse('conflict', `run ${earlier.run.id} ${left.why}`, left.hint);
}

/** Undefined if the record does not exist. */
async function found<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && (error as Partial<StoreError>).failure?.kind === 'not-found') return undefined;
    throw error;
  }
}

/** Whether its graphs run from their first task to their last. */
const isWhole = ({ from, subgraphs = [] }: GraphRunInput): boolean => from === undefined && subgraphs.length === 0;

function foreignNodes({ cluster, nodes }: ClusterSources, graphs: readonly GraphRequest[]): Diagnostic[] {
  const own = new Set(nodes.map(({ id }) => id));
  const foreign = [...new Set(graphs.flatMap((graph) => graph.nodes ?? []))].filter((id) => !own.has(id));
  if (foreign.length === 0) return [];
  return [
    {
      severity: 'error',
      code: 'graph.foreign-node',
      message: `Nodes ${foreign.sort((a, b) => a - b).join(', ')} do not belong to the same cluster ${cluster.id}`,
      hint: nodes.length === 0 ? 'The cluster has no nodes yet.' : `It has ${namesIn(nodes)}.`,
      path: 'graphs',
    },
  ];
}

/** All types may share one list of names, so each name must exist in at least one type. */
function unknownTasks(wanted: readonly string[], names: ReadonlySet<string>, path: string): Diagnostic[] {
  const unknown = [...new Set(wanted)].filter((name) => !names.has(name)).sort();
  if (unknown.length === 0) return [];
  return [
    {
      severity: 'error',
      code: 'graph.unknown-selection',
      message: `Tasks ${unknown.join(', ')} are not present in deployment graph`,
      hint: unknown.flatMap((name) => didYouMean(name, names) ?? []).join(' ') || 'Correct the names.',
      path,
    },
  ];
}

function unknownSubgraphs(
  subgraphs: NonNullable<GraphRunInput['subgraphs']>,
  names: ReadonlySet<string>,
): Diagnostic[] {
  const nameIn = (entry: string): string => entry.replace(/\/[^/]*$/, '').trim();
  return subgraphs.flatMap(({ start = [], end = [] }, index) =>
    [...start, ...end]
      .filter((entry) => !names.has(entry) && !names.has(nameIn(entry)))
      .map((entry) => ({
        severity: 'error' as const,
        code: 'graph.bad-subgraph',
        message: `'${entry}' matches no task of these graphs`,
        hint: didYouMean(nameIn(entry), names) ?? 'Write TASK or TASK/NODES, e.g. netconfig/1,3-5.',
        path: `subgraphs[${index}]`,
      })),
  );
}
