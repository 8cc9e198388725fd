import type { ExecutablePart, GraphActivities, PlanReference } from '../activities/graph-contract.ts';
import { isCoordinatedApart, splitForExecution } from '../src/core/graph-run/cut.ts';
import type { SchedulerGraph } from '../src/core/scheduler/graph.ts';
import { hasWork } from '../src/core/task-types/index.ts';
import type { RecordedRun } from './recorded-run.ts';

const CHUNK = 150_000;

/** A run of the recorded library as its store would have it: cut for execution, with the activities that give its pieces to workflows. */
export function executionOf({ graph, typeOf }: RecordedRun, queueOf: (node: string) => string, most?: number) {
  const split = splitForExecution(graph, most);
  if (split === null) throw new Error('that is a single workflow: use more nodes');
  const types = [...new Set(graph.nameOf.map((_name, task) => typeOf(task)))].filter(hasWork);
  const pieces = new Map<string, string[]>();
  const store = (piece: string, value: unknown): number => {
    const text = JSON.stringify(value);
    const chunks = Array.from({ length: Math.ceil(text.length / CHUNK) }, (_, at) =>
      text.slice(at * CHUNK, (at + 1) * CHUNK),
    );
    pieces.set(piece, chunks);
    return chunks.length;
  };
  const executable = (part: SchedulerGraph): ExecutablePart => ({
    graph: part,
    queues: part.nodes.map((id, n) => (part.sync[n] === 1 ? null : queueOf(id))),
    // The comparison is between empty activities, so agents are not pinged.
    controls: [],
    master: 'bench',
    agents: part.nodes,
    types,
    typeOf: part.nameOf.map(() => 0),
    timeouts: [3600],
    timeoutOf: part.nameOf.map(() => 0),
  });
  const parts = split.parts.map((part, at) => ({
    chunks: store(String(at), executable(part)),
    tasks: part.nameOf.length,
    skipped: 0,
    nodes: part.nodes.length,
  }));
  const reference: PlanReference = {
    hash: 'bench',
    tasks: graph.nameOf.length,
    nodes: graph.nodes.length,
    mode: 'noop_run',
    parts,
    coordination: {
      chunks: store('coordination', split.coordination),
      ...(isCoordinatedApart(parts.length) && { apart: true as const }),
    },
    warnings: [],
  };
  const recorded = { rows: 0 };
  const activities: GraphActivities = {
    open_graph_run: async ({ input }) => ({
      ok: true,
      transaction: 1,
      cluster: { id: input.cluster, name: 'bench', site: 'bench' },
      graphs: [{ transaction: 2, type: 'default' }],
      warnings: [],
      search_attributes: ['SiteName', 'RunPhase', 'GraphType', 'FailedNodes'],
      notices: false,
      approved_by_another: false,
      execution: 'bench',
      heartbeat_seconds: 30,
      agent_heartbeat_seconds: 30,
      offline_wait_seconds: 180,
      busy_slack_seconds: 15,
    }),
    plan_graph: async () => ({ ok: true, plan: reference }),
    open_checks: async () => ({ ok: false, why: 'the bench has no checks' }),
    load_graph_part: async ({ part, chunk }) => ({ text: pieces.get(String(part))![chunk]! }),
    record_tasks: async ({ rows }) => {
      recorded.rows += rows.length;
    },
    close_graph: async () => {},
    find_tried: async () => ({ activities: [] }),
    close_graph_run: async () => {},
  };
  return { split, reference, activities, recorded };
}
