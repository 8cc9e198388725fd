import type { RunSummary } from '../store/index.ts';
import type { AnyRunStatus } from './workflow-calls.ts';

/** The state of an open run in lists, as reported by the run. */
interface RunStanding {
  readonly phase: string;
  readonly paused: boolean;
  /** A graph of it is held after a failure. */
  readonly held: boolean;
  readonly awaitingApproval: boolean;
  readonly done: number;
  readonly total: number;
  readonly failedNodes: number;
  readonly failedTasks: number | null;
  readonly failure: string | null;
}

/** Runs asked for one list; a run is asked at most once a second, however many lists show it. */
const MAX_ASKED = 50;
const KEPT_MS = 1_000;

/** Standings of open runs, by their ids; a run that does not answer is left out. `statusOf` asks its workflow. */
export function runStandings(statusOf: (run: RunSummary) => Promise<AnyRunStatus>) {
  const asked = new Map<string, { readonly at: number; readonly standing: Promise<RunStanding | undefined> }>();

  function standingOf(run: RunSummary): Promise<RunStanding | undefined> {
    const known = asked.get(run.id);
    if (known !== undefined && Date.now() - known.at < KEPT_MS) return known.standing;
    const standing = statusOf(run).then(shortened, () => undefined);
    asked.set(run.id, { at: Date.now(), standing });
    return standing;
  }

  return {
    async of(runs: readonly RunSummary[]): Promise<ReadonlyMap<string, RunStanding>> {
      const open = runs.filter(({ outcome }) => outcome === null).slice(0, MAX_ASKED);
      for (const [id, { at }] of asked) if (Date.now() - at > KEPT_MS) asked.delete(id);
      const standings = await Promise.all(open.map(async (run) => [run.id, await standingOf(run)] as const));
      return new Map(standings.flatMap(([id, standing]) => (standing === undefined ? [] : [[id, standing] as const])));
    },
  };
}

/** Whether a graph of the run is held after a failure: an operator decides. */
export const isHeld = (status: AnyRunStatus): boolean =>
  'cluster' in status && status.graphs.some(({ state }) => state === 'held');

function shortened(status: AnyRunStatus): RunStanding {
  const { phase, paused, awaiting_approval, done, total, failed } = status;
  const [first] = failed;
  const failure =
    first === undefined ? null : `${'task' in first ? `${first.task} on ` : ''}${first.node}: ${first.reason}`;
  const counted =
    'cluster' in status
      ? { failedNodes: status.failing_nodes, failedTasks: status.counts.failed ?? 0 }
      : { failedNodes: status.counts.failed, failedTasks: null };
  const awaitingApproval = awaiting_approval !== undefined;
  return { phase, paused: paused !== null, held: isHeld(status), awaitingApproval, done, total, ...counted, failure };
}
