import { createEngine, type Engine, YaqlError } from '@sitewright/yaql';
import { prepareFacts } from '../fields/state-data.ts';
import { GraphProblemError } from '../problem.ts';

/** A node as filters see it. Filters may use further fields. */
export interface NodeRow {
  readonly id: number | string;
  readonly online: boolean;
  readonly status: string;
  readonly pending_addition: boolean;
  readonly pending_deletion: boolean;
  readonly error_type: string | null;
  readonly [field: string]: unknown;
}

/** The nodes of a run: by id, or by a filter. */
interface NodeChoice {
  /** Ids; switches the filter off. */
  readonly ids?: readonly (number | string)[];
  /** An expression over one node as `$`; null or absent: nodes ready for work. Empty: all. */
  readonly filter?: string | null;
}

const INSTALLED: ReadonlySet<string> = new Set(['ready', 'provisioned', 'stopped']);

/**
 * The nodes of a cluster for a run, by id: only online nodes; of these the requested ones, else the
 * ones that match the filter, possibly none. Throws GraphProblemError for a filter that fails.
 */
export function filterNodes<N extends NodeRow>(
  nodes: readonly N[],
  choice: NodeChoice,
  engine: Engine = createEngine(),
): N[] {
  const online = nodes.filter((node) => node.online).sort((a, b) => Number(a.id) - Number(b.id));
  if (choice.ids !== undefined) {
    const wanted = new Set(choice.ids.map(String));
    return online.filter(({ id }) => wanted.has(String(id)));
  }
  const filter = choice.filter ?? null;
  if (filter === null) return online.filter(isWorkable);
  if (filter === '') return online;
  try {
    const rows = online.map((node) => prepareFacts(node));
    const taken = engine.parse(`$.where(${filter}).select($.id)`).evaluateToHost(rows) as readonly unknown[];
    const ids = new Set(taken.map(String));
    return online.filter(({ id }) => ids.has(String(id)));
  } catch (error) {
    if (!(error instanceof YaqlError)) throw error;
    throw new GraphProblemError(
      'graph.bad-filter',
      `the node filter fails: ${error.errorClass}: ${error.message}`,
      'Correct the filter: it is a YAQL expression over one node, e.g. $.pending_deletion.',
      ['node_filter'],
    );
  }
}

/** Installed, or with a deployment error to recover from; not pending addition or deletion. */
function isWorkable({ pending_addition, pending_deletion, status, error_type }: NodeRow): boolean {
  return !pending_addition && !pending_deletion && (INSTALLED.has(status) || error_type === 'deploy');
}
