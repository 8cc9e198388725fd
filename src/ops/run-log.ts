import type { OutputStream } from '../agent/index.ts';
import type { LogArrival, PlacedArrival } from '../agent/output/run-log-index.ts';
import type { TaskLogs } from '../agent/output/task-logs.ts';
import type { RunLogPage } from '../core/contracts/runs.ts';

export interface RunLogRequest {
  readonly before?: string;
  readonly after?: string;
  readonly limit?: number;
  readonly search?: string;
  readonly task?: string;
  readonly node?: string;
  readonly stream?: OutputStream;
}

const LINES = 200;
/** Pieces of output that one answer looks through; the next one goes on. */
const MAX_PIECES = 20_000;

/** A place in the log of a run: which of its graphs, and where in the index of that graph. */
interface Place {
  readonly graph: number;
  readonly offset: number;
}

/** A page of the log of a run whose graphs have these names, one after the other. */
export function runLogPage(logs: TaskLogs, graphs: readonly string[], request: RunLogRequest): RunLogPage {
  return request.after === undefined
    ? pageBefore(logs, graphs, request)
    : pageAfter(logs, graphs, placeOf(request.after), request);
}

function pageBefore(logs: TaskLogs, graphs: readonly string[], request: RunLogRequest): RunLogPage {
  const last: Place = { graph: graphs.length - 1, offset: Number.POSITIVE_INFINITY };
  const to = request.before === undefined ? last : placeOf(request.before);
  const pages: RunLogPage['items'][] = [];
  let [lines, pieces] = [0, 0];
  let later: Place | undefined;
  for (let graph = Math.min(to.graph, graphs.length - 1); graph >= 0; graph -= 1) {
    const before = graph === to.graph ? to.offset : Number.POSITIVE_INFINITY;
    for (const placed of logs.arrivals(graphs[graph]!, { before })) {
      later ??= { graph, offset: placed.end };
      const found = linesAt(logs, graphs[graph]!, graph, placed, request);
      pages.push(found);
      lines += found.length;
      pieces += 1;
      if (lines >= (request.limit ?? LINES) || pieces >= MAX_PIECES) {
        const isFirst = graph === 0 && placed.start === 0;
        const earlier = isFirst ? null : textOf({ graph, offset: placed.start });
        return { items: pages.toReversed().flat(), earlier, later: textOf(later) };
      }
    }
  }
  return { items: pages.toReversed().flat(), earlier: null, later: textOf(later ?? { graph: 0, offset: 0 }) };
}

function pageAfter(logs: TaskLogs, graphs: readonly string[], from: Place, request: RunLogRequest): RunLogPage {
  const items: RunLogPage['items'][number][] = [];
  let later = from;
  let pieces = 0;
  for (let graph = from.graph; graph < graphs.length; graph += 1) {
    const after = graph === from.graph ? from.offset : 0;
    for (const placed of logs.arrivals(graphs[graph]!, { after })) {
      later = { graph, offset: placed.end };
      items.push(...linesAt(logs, graphs[graph]!, graph, placed, request));
      pieces += 1;
      if (items.length >= (request.limit ?? LINES) || pieces >= MAX_PIECES)
        return { items, earlier: textOf(from), later: textOf(later) };
    }
  }
  return { items, earlier: textOf(from), later: textOf(later) };
}

function linesAt(
  logs: TaskLogs,
  name: string,
  graph: number,
  { arrival, start }: PlacedArrival,
  { task, node, stream, search }: RunLogRequest,
): RunLogPage['items'] {
  if (task !== undefined && arrival.task !== task) return [];
  if (node !== undefined && arrival.node !== node) return [];
  const { outcome } = arrival;
  const end = outcome === undefined ? [] : [{ stream: 'ended' as const, text: outcome }];
  const wanted = search?.toLowerCase();
  return [...logs.linesOf(name, arrival), ...end]
    .filter((line) => stream === undefined || line.stream === stream)
    .filter(({ text }) => wanted === undefined || text.toLowerCase().includes(wanted))
    .map((line) => ({ place: textOf({ graph, offset: start }), ...ofTask(arrival), ...line }));
}

const ofTask = ({ at, task, node, attempt }: LogArrival) => ({ at, task, node, attempt });

const textOf = ({ graph, offset }: Place): string => `${graph}.${offset}`;

function placeOf(text: string): Place {
  const [graph = 0, offset = 0] = text.split('.').map(Number);
  return { graph, offset };
}
