import { setTimeout as delay } from 'node:timers/promises';
import type { Api } from '../../core/contracts/api.ts';
import type { EventOf } from '../../core/contracts/route.ts';
import type { TaskOnNode } from '../../core/task-on-node.ts';
import { printable, printableLines } from '../../core/text/control-characters.ts';
import { MarkedOutput } from '../../core/text/marked-output.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

const LOG = 'GET /runs/:run/nodes/:node/tasks/:task/log';
type LogEvent = EventOf<Api[typeof LOG]>;

const AGAIN_AFTER_MS = 1_000;

/**
 * Prints a task's output, both streams or one, live with `follow`; resumes where it was after an outage of the API.
 * @returns the exit code: of a task that has ended, whether it succeeded
 */
export async function printTaskLog(
  session: Session,
  run: string,
  { task, node }: TaskOnNode,
  {
    follow,
    stream,
    attempt,
  }: { readonly follow?: boolean; readonly stream: 'stdout' | 'stderr' | undefined; readonly attempt?: number },
): Promise<number> {
  const { terminal } = session;
  const client = await session.client();
  const interrupted = terminal.interrupted();
  const marked = new MarkedOutput();
  // One stream alone is printed as it was written; of both, lines of stderr are marked.
  const textOf = (from: 'stdout' | 'stderr', text: string) => (stream === undefined ? marked.add(from, text) : text);
  let offset = 0;
  let hasStarted = false;
  while (!interrupted.aborted) {
    try {
      const query = { stream, offset, follow, attempt };
      for await (const event of client.events(LOG, { params: { run, node, task }, query }, interrupted)) {
        hasStarted = true;
        offset = event.id;
        const code = printEvent(session, event, textOf);
        if (code !== undefined) return code;
      }
      if (!follow) return EXIT.done;
    } catch (error) {
      if (interrupted.aborted) break;
      const isOutage = error instanceof CliError && error.exitCode === EXIT.unreachable;
      if (!follow || !hasStarted || !isOutage) throw error;
    }
    await delay(AGAIN_AFTER_MS, undefined, { signal: interrupted }).catch(() => undefined);
  }
  return EXIT.interrupted;
}

/** Prints an event; returns the exit code for the last one. */
function printEvent(
  { terminal }: Session,
  event: LogEvent,
  textOf: (stream: 'stdout' | 'stderr', text: string) => string,
): number | undefined {
  switch (event.event) {
    case 'output': {
      const text = textOf(event.data.stream, event.data.text);
      // A file gets the raw output of the task. A terminal would interpret it, and its author is root only on a node.
      terminal.out(terminal.columns === undefined ? text : printableLines(text));
      return undefined;
    }
    case 'gap':
      terminal.err(`[${event.data.to - event.data.offset} bytes were dropped]\n`);
      return undefined;
    case 'ended': {
      const { outcome, message } = event.data;
      if (outcome === 'success' || outcome === 'skipped') return EXIT.done;
      terminal.err(`${outcome}: ${printable(message)}\n`);
      return EXIT.failed;
    }
  }
}
