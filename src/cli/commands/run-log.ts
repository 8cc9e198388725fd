import { isId } from '../../core/names.ts';
import { stateWord } from '../../core/state-word.ts';
import { taskText } from '../../core/task-on-node.ts';
import { printable } from '../../core/text/control-characters.ts';
import { STDERR_MARK } from '../../core/text/marked-output.ts';
import type { Answer } from '../shell/client.ts';
import { nodeNamesOf, withNodeNames } from '../shell/node-names.ts';
import { isTabular, type OutputFlags, printList } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import { paintFor } from '../views/paint.ts';
import { findRun } from './find-run.ts';

type Line = Answer<'GET /runs/:run/logs'>['items'][number];

interface RunLogFlags extends OutputFlags {
  readonly follow?: boolean;
  readonly stream: 'stdout' | 'stderr' | undefined;
  readonly search?: string;
  readonly limit?: number;
}

const NEWEST = 200;
const TAIL_MS = 1_000;

/** Prints the output of all tasks of a run, each line with its time and task; with `follow`, until the run has ended. */
export async function printRunLog(session: Session, reference: string, flags: RunLogFlags): Promise<void> {
  const { terminal } = session;
  const client = await session.client();
  // A number may be that of a graph within a run.
  const run = isId(reference) ? reference : (await findRun(client, reference)).id;
  const asked = { search: flags.search, stream: flags.stream };
  const read = (query: { readonly limit?: number; readonly after?: string }) =>
    client.call('GET /runs/:run/logs', { params: { run }, query: { ...asked, ...query } });
  let page = await read({ limit: flags.limit ?? NEWEST });
  if (!isTabular(flags) || flags.column || flags.format === 'csv')
    return printList(terminal, flags, page.items, ['at', 'task', 'node', 'attempt', 'stream', 'text']);
  const names = await nodeNamesOf(client, run);
  const print = (lines: readonly Line[]) =>
    terminal.out(lines.map((line) => lineText(withNodeNames(line, names), terminal.color)).join(''));
  if (page.earlier !== null) terminal.err('earlier lines are not shown: --limit NUMBER shows more\n');
  print(page.items);
  if (!flags.follow) return;
  const { id } = await findRun(client, run);
  const interrupted = terminal.interrupted();
  let isOver = false;
  while (!interrupted.aborted) {
    // Output from before its end is complete by then.
    const wasOver = isOver;
    page = await read({ after: page.later, limit: 1000 });
    print(page.items);
    if (page.items.length >= 1000) continue;
    if (wasOver) return;
    isOver = (await client.runs.get(id)).outcome !== null;
    if (!isOver) await terminal.sleep(TAIL_MS, interrupted);
  }
}

function lineText({ at, task, node, attempt, stream, text }: Line, color: boolean): string {
  const paint = paintFor(color);
  const again = attempt > 1 ? ` (attempt ${attempt})` : '';
  const shown = stream === 'stderr' ? paint.bad(`${STDERR_MARK}${printable(text)}`) : printable(text);
  const said = stream === 'ended' ? paint.dim(`ended: ${printable(stateWord(text))}`) : shown;
  return `${at.slice(11, 23)}Z  ${printable(taskText({ task, node }))}${again}  ${said}\n`;
}
