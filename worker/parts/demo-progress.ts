import type { ApiClient } from '../../src/cli/shell/client.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { counted } from '../../src/core/text/text.ts';

type Node = NonNullable<RunReport['baremetal']>['nodes'][number];

const LOOK_EVERY_MS = 300;

/**
 * Prints a line for each change of a run until it ends; false when interrupted before. Prints a line
 * at least every ten seconds, to show that it does not hang.
 */
export async function followRun(
  api: ApiClient,
  run: string,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const began = Date.now();
  let spoke = began;
  const printed = new Map<string, string>();
  const print = (line: string): void => {
    const seconds = Math.floor((Date.now() - began) / 1000);
    say(`  ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}  ${line}`);
    spoke = Date.now();
  };
  /** Prints the state of an item when it is new. */
  const note = (key: string, state: string, line: string): void => {
    if (printed.get(key) === state) return;
    printed.set(key, state);
    print(line);
  };

  while (!signal.aborted) {
    const report = (await api.runs.report(run)) as RunReport;
    for (const phase of report.phases) {
      const detail = phase.detail === undefined ? '' : `: ${phase.detail}`;
      if (phase.name !== 'baremetal')
        note(`phase ${phase.name}`, phase.state, `${phase.name.padEnd(12)} ${phase.state}${detail}`);
    }
    const status = await api.runs.status(run);
    note(
      'paused',
      String(status.paused !== null),
      status.paused ? `paused${status.paused.by ? ` by ${status.paused.by}` : ''}: nothing new starts` : 'running',
    );
    for (const node of report.baremetal?.nodes ?? [])
      note(`node ${node.name}`, stateOf(node), `${node.name.padEnd(12)} ${sentenceOf(node)}`);
    for (const group of report.baremetal?.groups ?? []) {
      if (group.state === 'success' || group.state === 'failed')
        note(
          `group ${group.name}`,
          group.state,
          `${group.name.padEnd(12)} group ${group.state}${group.reason ? `: ${group.reason}` : ''}`,
        );
    }
    if (report.outcome) return true;
    if (Date.now() - spoke > 10_000)
      print(`still ${status.phase}: ${status.done} of ${counted(status.total, 'node')} done`);
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
  }
  return false;
}

const stateOf = (node: Node): string => `${node.state}/${node.running ?? ''}`;

function sentenceOf(node: Node): string {
  if (node.running) return node.running === 'prepare' ? 'is being prepared' : 'is being deployed';
  switch (node.state) {
    case 'waiting':
    case 'not_reached':
      return 'waits';
    case 'prepared':
      return 'is prepared';
    case 'success':
      return 'is deployed';
    case 'failed':
      return `FAILED: ${node.reason ?? 'no reason given'}`;
  }
}
