import { readGraphsLeft } from '../../clusters/graphs-left.ts';
import type { GraphRequest, GraphRunInput } from '../../core/graph-run/index.ts';
import { actionOf, namesOfType } from '../../core/graph-types.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { BEFORE_CHANGES } from '../../core/run/index.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';

import type { Store } from '../../store/index.ts';
import { problem } from '../problem.ts';
import { clusterTasks } from './cluster-tasks.ts';
import { notFoundAs } from './fuel-terms.ts';

/**
 * The graphs that an input requests, in order, after checking that everything it names exists: the cluster, types,
 * nodes, tasks, subgraphs, sequence and earlier run. So errors appear before the workflow starts.
 * @throws `invalid` with every finding, `not-found`
 */
export async function requestedGraphs(
  store: Store,
  input: GraphRunInput,
  options: { readonly tasksNeeded?: boolean } = {},
): Promise<readonly GraphRequest[]> {
  const cluster = await store.clusters.brief(input.cluster);
  const graphs = await chosenGraphs(store, input, cluster.releaseId);
  const findings: Diagnostic[] = [];
  const tasksOfType = new Map<string, ReadonlySet<string>>();
  const known = new Set((await store.graphs.typesOf(cluster.id)).flatMap(namesOfType));
  for (const [index, { type }] of graphs.entries()) {
    // Nodes can be removed from every cluster, also without a graph that undoes something on them.
    if (actionOf(type) === 'delete') known.add(type);
    const tasks = known.has(type) ? await clusterTasks(store, cluster.id, type, 'merged') : [];
    tasksOfType.set(type, new Set(tasks.map(({ id }) => id)));
    const needsTasks = options.tasksNeeded && actionOf(type) !== 'delete';
    if (known.has(type) && (tasks.length > 0 || !needsTasks)) continue;
    const checked = `Checked cluster (ID=${cluster.id}), its plugins and release (ID=${cluster.releaseId}).`;
    findings.push({
      severity: 'error',
      code: 'graph.not-found',
      message: `There are no deployment tasks for graph type '${type}'. ${checked}`,
      hint: hintOfTypes(type, known),
      path: `graphs[${index}].type`,
    });
  }
  findings.push(...(await foreignNodes(store, cluster.id, graphs)));
  if (findings.length === 0) {
    const names = new Set([...tasksOfType.values()].flatMap((tasks) => [...tasks]));
    const held = (input.hold_before ?? []).filter((name) => name !== BEFORE_CHANGES);
    findings.push(
      ...unknownTasks(
        graphs.flatMap(({ tasks }) => tasks ?? []),
        names,
        'graphs',
      ),
      ...unknownTasks(held, names, 'hold_before'),
      ...unknownSubgraphs(input.subgraphs ?? [], names),
    );
  }
  if (findings.length === 0) return graphs;
  throw problem('invalid', [...new Set(findings.map(({ message }) => message))].join('; '), {
    hint: findings.find(({ hint }) => hint !== undefined)?.hint ?? 'Correct the request.',
    errors: findings,
  });
}

async function chosenGraphs(store: Store, input: GraphRunInput, release: number): Promise<readonly GraphRequest[]> {
  if (input.graphs !== undefined) return input.graphs;
  if (input.sequence !== undefined) return sequenceGraphs(store, input.sequence, release);
  if (input.from !== undefined) return earlierGraphs(store, input.from, input.cluster);
  return [{ type: 'default' }];
}

async function sequenceGraphs(store: Store, id: number, release: number): Promise<readonly GraphRequest[]> {
  const sequence = await store.sequences.get(id);
  if (sequence.releaseId !== release) {
    throw problem(
      'not-found',
      `Sequence ${id} belongs to release ${sequence.releaseId}, the cluster belongs to release ${release}`,
      {
        hint: "Use a sequence of the cluster's release: GET /api/v1/sequences/?cluster=ID lists them.",
      },
    );
  }
  return sequence.graphs.map((graph) => ({ type: String(graph.type) }));
}

async function earlierGraphs(store: Store, from: number, cluster: number): Promise<readonly GraphRequest[]> {
  const earlier = await store.transactions.getRun(from);
  const { run } = earlier;
  if (run.clusterId !== cluster) throw notFoundAs('transaction', `Transaction ${from} is not in cluster ${cluster}.`);
  const left = await readGraphsLeft(store, earlier);
  if (left.ok) return left.graphs;
  throw problem('conflict', `transaction ${run.id} ${left.why}`, { hint: left.hint });
}

async function foreignNodes(store: Store, cluster: number, graphs: readonly GraphRequest[]): Promise<Diagnostic[]> {
  const asked = [...new Set(graphs.flatMap(({ nodes }) => nodes ?? []))];
  if (asked.length === 0) return [];
  const own = new Set((await store.nodes.list({ clusterId: cluster })).map(({ id }) => id));
  const foreign = asked.filter((id) => !own.has(id)).sort((a, b) => a - b);
  if (foreign.length === 0) return [];
  const members = [...own].sort((a, b) => a - b).slice(0, 20);
  return [
    {
      severity: 'error',
      code: 'graph.foreign-node',
      message: `Nodes ${foreign.join(', ')} do not belong to the same cluster ${cluster}`,
      hint:
        members.length === 0
          ? 'The cluster has no nodes yet.'
          : `It has nodes ${members.join(', ')}${own.size > 20 ? ' …' : ''}.`,
      path: 'graphs',
    },
  ];
}

/** All types may share one list of names, so each name must exist in at least one type. */
function unknownTasks(asked: readonly string[], names: ReadonlySet<string>, path: string): Diagnostic[] {
  const unknown = [...new Set(asked)].filter((name) => !names.has(name)).sort();
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
  return subgraphs.flatMap(({ start = [], end = [] }, index) =>
    [...start, ...end]
      .filter((entry) => !names.has(entry) && !names.has(entry.replace(/\/[^/]*$/, '').trim()))
      .map((entry) => ({
        severity: 'error' as const,
        code: 'graph.bad-subgraph',
        message: `'${entry}' matches no task of these graphs`,
        hint: didYouMean(entry.replace(/\/[^/]*$/, ''), names) ?? 'Write TASK or TASK/NODES, e.g. netconfig/1,3-5.',
        path: `subgraphs[${index}]`,
      })),
  );
}

const hintOfTypes = (type: string, known: ReadonlySet<string>): string =>
  known.size === 0
    ? 'There are no graphs yet. Upload one.'
    : `${didYouMean(type, known) ?? ''} Known types: ${[...known].join(', ')}.`.trim();
