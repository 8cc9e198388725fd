import { given } from '../../core/data/given.ts';
import { isId } from '../../core/names.ts';
import { numberOf } from '../../core/run/subject.ts';
import { someOf } from '../../core/text/text.ts';
import type { Answer, ApiClient } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm } from '../shell/confirm.ts';
import { idIn, namedThings } from '../shell/named-ids.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import type { Terminal } from '../shell/terminal.ts';

interface Flags extends OutputFlags {
  readonly site?: string;
  readonly yes?: boolean;
}

interface OnFlags extends Flags {
  readonly reason: string;
  readonly lock?: boolean;
}

type Missed = Answer<'DELETE /nodes/:id/maintenance'>['missed'];

const OF_SITE = 'its site; then NODE is its name in the documents, also before its first deployment';

/** `sitewright node maintenance …`: nodes that people work on, which runs leave out. */
export function registerNodeMaintenance(group: CliCommand, session: Session): void {
  const { terminal } = session;
  const maintenance = group.verb('maintenance', 'Nodes that people work on: runs and plans leave them out');

  maintenance
    .verb('on', 'Put nodes into maintenance: runs, plans and Deploy changes leave them out and say so')
    .example("web3 --reason 'a broken disk' --lock")
    .example("web3 web4 --reason 'no power'")
    .argument('<nodes...>', 'ids or names of the nodes')
    .requiredOption('--reason <text>', 'why; shown wherever the node is left out')
    .option('--site <site>', OF_SITE)
    .option('--lock', 'also lock their machines in MAAS until the maintenance ends')
    .asks()
    .output()
    .action(async (nodes: readonly string[], { reason, site, lock, yes, ...flags }: OnFlags) => {
      if (reason.trim() === '') throw usageError('--reason is empty', 'Say what is being done to the nodes.');
      await confirm(
        terminal,
        `Put ${someOf(nodes, 8)} into maintenance? Runs will leave ${nodes.length === 1 ? 'it' : 'them'} out.${lock ? ' Locked in MAAS, too.' : ''}`,
        yes,
        'asked',
      );
      const body = { reason, ...given({ lock }) };
      const client = await session.client();
      const put =
        site === undefined
          ? (await idsOf(client, nodes)).map(
              (id) => () => client.call('PUT /nodes/:id/maintenance', { params: { id }, body }),
            )
          : nodes.map(
              (node) => () => client.call('PUT /sites/:site/nodes/:node/maintenance', { params: { site, node }, body }),
            );
      await eachOf(terminal, flags, put, ({ maintenance, runs, notes }) => {
        const underWay = runs.map(
          (run) => `run ${numberOf(run)} (${run.kind}) is under way and keeps its plan, which may have the node`,
        );
        return [`${maintenance.node} is in maintenance`, ...underWay, ...notes].map((line) => `${line}\n`).join('');
      });
    });

  maintenance
    .verb('off', 'End the maintenance of nodes, and show what they missed as a plan; nothing is started')
    .example('web3')
    .argument('<nodes...>', 'ids or names of the nodes')
    .option('--site <site>', OF_SITE)
    .output()
    .action(async (nodes: readonly string[], { site, ...flags }: Flags) => {
      const client = await session.client();
      const end =
        site === undefined
          ? (await idsOf(client, nodes)).map(
              (id) => () => client.call('DELETE /nodes/:id/maintenance', { params: { id } }),
            )
          : nodes.map(
              (node) => () => client.call('DELETE /sites/:site/nodes/:node/maintenance', { params: { site, node } }),
            );
      await eachOf(terminal, flags, end, ({ maintenance, unlocked, missed }) => {
        const head = `${maintenance.node} is back after maintenance since ${maintenance.since} (${maintenance.by}: ${maintenance.reason})\n`;
        return `${head}${unlocked ? 'its machine is unlocked in MAAS\n' : ''}${missedText(missed, maintenance)}`;
      });
    });

  maintenance
    .verb('list', 'The nodes in maintenance, since when, by whom and why')
    .example()
    .calls(session, 'GET /maintenance', {
      columns: ['node', 'id', 'site', 'cluster', 'since', 'by', 'reason', 'locked'],
    });
}

/** Of nodes in the inventory; a machine that was never deployed is not there yet. */
async function idsOf(client: ApiClient, nodes: readonly string[]): Promise<readonly number[]> {
  const known = nodes.every(isId) ? [] : await namedThings(client, 'node');
  return nodes.map((node) => (isId(node) ? Number(node) : idIn('node', node, known)));
}

/** Asks for one node after the other. People see each answer when it comes, programs all of them in the end. */
async function eachOf<T extends object>(
  terminal: Terminal,
  flags: OutputFlags,
  asked: readonly (() => Promise<T>)[],
  textOf: (answer: T) => string,
): Promise<void> {
  const items: T[] = [];
  for (const ask of asked) {
    const answer = await ask();
    if (asked.length === 1 || flags.format === 'table') await printOne(terminal, flags, answer, textOf(answer));
    else items.push(answer);
  }
  if (items.length > 0) await printOne(terminal, flags, { items });
}

function missedText(
  { machine, graphs }: Missed,
  { cluster, site }: { readonly cluster: number | null; readonly site: string | null },
): string {
  const changed =
    machine !== null && machine.fields.length > 0 ? `; its documents changed: ${machine.fields.join(', ')}` : '';
  const lines = machine === null ? [] : [`  its machine: ${MACHINE[machine.does]} (${machine.why})${changed}`];
  for (const { type, tasks, problem } of graphs) {
    lines.push(`  graph ${type}: ${problem ?? (tasks.length === 0 ? 'nothing to do' : `${tasks.length} to run`)}`);
    lines.push(
      ...tasks.map((one) =>
        `    ${one.task}  ${one.first_time ? 'for the first time' : one.changed.join(', ')}`.trimEnd(),
      ),
    );
  }
  if (lines.length === 0) return 'no run has missed it: it has neither site nor cluster\n';
  const next = [
    ...(machine !== null && (machine.does === 'deploy' || machine.fields.length > 0)
      ? [`its machine: sitewright site update ${site}`]
      : []),
    ...(graphs.some(({ tasks }) => tasks.length > 0) ? [`its tasks: sitewright cluster deploy ${cluster}`] : []),
  ];
  return ['a deployment would now do this for it:', ...lines, ...next].map((line) => `${line}\n`).join('');
}

const MACHINE = {
  deploy: 'a run of its site would deploy it',
  leave: 'a run of its site would leave it as it is',
  refuse: 'a run of its site would refuse it',
  unknown: 'unknown what a run of its site would do',
} as const;
