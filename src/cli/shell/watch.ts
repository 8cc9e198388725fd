import type { GraphRunStatus } from '../../core/contracts/graph-run.ts';
import type { RunDetail } from '../../core/contracts/runs.ts';
import type { RunStatus } from '../../core/contracts/site-run.ts';
import { taskText } from '../../core/task-on-node.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted } from '../../core/text/text.ts';
import { awaitingChanges } from '../views/approval.ts';
import { formatDuration } from '../views/duration.ts';
import { graphChanges, someNames } from '../views/graph-status.ts';
import { type Paint, paintFor, paintState } from '../views/paint.ts';
import { rolloutChanges } from '../views/rollout.ts';
import { currentText, silenceChanges, waitChanges } from '../views/status.ts';
import type { ApiClient } from './client.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type NodeNames, nodeNamesOf, withNodeNames } from './node-names.ts';
import { CliError } from './problem.ts';
import type { Terminal } from './terminal.ts';

const LOOK_EVERY_MS = 1_000;
const HEARTBEAT_MS = 10_000;
/** How long to wait for an unreachable API. */
const PATIENCE_MS = 5 * 60_000;

/** Result of following a run. */
type Followed = { readonly end: 'finished'; readonly run: RunDetail } | { readonly end: 'interrupted' };

/**
 * Follows a run until it ends; with `say`, prints a line for each change and a heartbeat in between. Waits for an
 * API that is temporarily unreachable: the run itself does not need it.
 */
export async function followRun(
  terminal: Terminal,
  client: ApiClient,
  runId: string,
  say?: (line: string) => void,
): Promise<Followed> {
  const interrupted = terminal.interrupted();
  const changes = new Changes(paintFor(terminal.color && say !== undefined));
  const started = terminal.now();
  let lastLineAt = started;
  let names: NodeNames | undefined;
  let away: { readonly since: number; readonly isApi: boolean } | undefined;
  const speak = (line: string): void => {
    say?.(line);
    lastLineAt = terminal.now();
  };

  while (!interrupted.aborted) {
    try {
      const status = await client.runs.status(runId, interrupted);
      if (away !== undefined) speak(away.isApi ? 'the API answers again' : 'the run answers again');
      away = undefined;
      if (say !== undefined && isGraphRun(status) && status.graphs.length > 0)
        names ??= await nodeNamesOf(client, runId);
      const shown = names === undefined ? status : withNodeNames(status, names);
      for (const line of changes.since(shown)) speak(line);
      // With `--wait` nobody is told of changes; on a terminal one line says how far it is.
      if (say === undefined) terminal.progress?.(heartbeat(status, terminal.now() - started));
      if (status.outcome !== undefined || status.phase === 'finished') {
        const run = await client.runs.get(runId);
        // The store may lag slightly behind its last answer.
        if (run.outcome !== null) {
          if (say === undefined) terminal.progress?.(undefined);
          return { end: 'finished', run };
        }
      }
      if (terminal.now() - lastLineAt >= HEARTBEAT_MS) speak(heartbeat(shown, terminal.now() - started));
    } catch (error) {
      if (interrupted.aborted) break;
      if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error;
      const isFirstFailure = away === undefined;
      away ??= { since: terminal.now(), isApi: isApiAway(error) };
      if (terminal.now() - away.since > PATIENCE_MS) throw error;
      if (isFirstFailure || terminal.now() - lastLineAt >= HEARTBEAT_MS)
        speak(`${error.problem.message}; ${isApiAway(error) ? 'the run continues, ' : ''}still trying`);
    }
    await terminal.sleep(LOOK_EVERY_MS, interrupted);
  }
  if (say === undefined) terminal.progress?.(undefined);
  return { end: 'interrupted' };
}

/** Exit code of an ended run. */
export function exitCodeOfOutcome(outcome: string | null): ExitCode {
  return outcome === 'success' || outcome === 'success_with_failures' || outcome === 'nothing_to_do'
    ? EXIT.done
    : EXIT.failed;
}

/** A run does not need the API. It may need other unreachable services, which the message names. */
const isApiAway = ({ problem }: CliError): boolean => problem.code === 'api-unreachable';

function heartbeat(status: RunStatus | GraphRunStatus, elapsedMs: number): string {
  const held = status.paused ? 'still paused' : status.awaiting_approval ? 'waiting for approval' : 'still running';
  if (isGraphRun(status)) {
    const doing = status.running.length === 0 ? '' : `, now ${someNames(status.running.map(taskText))}`;
    return `… ${held} after ${formatDuration(elapsedMs)}: ${status.done} of ${counted(status.total, 'task')}${doing}`;
  }
  const doing = status.current ? `, ${currentText(status.current)}` : '';
  return `… ${held} after ${formatDuration(elapsedMs)}: ${status.done} of ${counted(status.total, 'node')}${doing}`;
}

/** Distinguishes runs of graphs from runs on sites by their fields. */
export const isGraphRun = (status: RunStatus | GraphRunStatus): status is GraphRunStatus => 'graphs' in status;

/** Lists changes between successive statuses. */
class Changes {
  readonly #paint: Paint;
  #last: RunStatus | undefined;
  #lastOfGraphs: GraphRunStatus | undefined;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  since(status: RunStatus | GraphRunStatus): string[] {
    if (!isGraphRun(status)) return this.#sinceOnSite(status);
    const before = this.#lastOfGraphs;
    this.#lastOfGraphs = status;
    return graphChanges(status, before, this.#paint);
  }

  #sinceOnSite(status: RunStatus): string[] {
    const last = this.#last;
    this.#last = status;
    const paint = this.#paint;
    const lines: string[] = [];
    if (status.phase !== last?.phase && status.phase !== 'finished')
      lines.push(`${paint.strong(status.phase.replaceAll('_', ' '))}`);
    const pausedBefore = last?.paused ?? null;
    if (status.paused && !pausedBefore) {
      const { by, reason } = status.paused;
      lines.push(
        `${paint.busy('paused')}${by === undefined ? '' : ` by ${printable(by)}`}${reason === undefined ? '' : `: ${printable(reason)}`}`,
      );
    }
    if (!status.paused && pausedBefore) lines.push('resumed');
    if (status.stopping && !last?.stopping)
      lines.push(`${paint.busy('stopping')}: running work finishes, nothing new starts`);
    lines.push(...awaitingChanges(status, last, printable(status.site), paint));
    lines.push(...silenceChanges(status, last, paint));
    const known = new Set(last?.failed.map(({ node }) => node));
    for (const { node, group, reason } of status.failed)
      if (!known.has(node))
        lines.push(
          `${paint.bad('failed')} ${printable(node)}${group === undefined ? '' : ` (${printable(group)})`}: ${printable(reason)}`,
        );
    const states = new Map(last?.groups.map((group) => [group.name, group.state]));
    for (const { name, critical, state, reason } of status.groups) {
      if (state === (states.get(name) ?? 'waiting')) continue;
      const why = reason === undefined ? '' : `: ${printable(reason)}`;
      lines.push(`group ${printable(name)}${critical ? ' (critical)' : ''} ${paintState(paint, state)}${why}`);
    }
    lines.push(...rolloutChanges(status, last, paint), ...waitChanges(status, last, paint));
    const now = status.current;
    if (now && (now.group !== last?.current?.group || now.call !== last.current.call))
      lines.push(`${now.call} group ${printable(now.group)}: ${counted(now.running.length + now.waiting, 'node')}`);
    if (last && status.done !== last.done) lines.push(`${status.done} of ${counted(status.total, 'node')} done`);
    if (status.outcome !== undefined && last?.outcome === undefined)
      lines.push(`run ended: ${paintState(paint, status.outcome)}`);
    return lines;
  }
}
