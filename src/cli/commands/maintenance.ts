import { given } from '../../core/data/given.ts';
import { isId } from '../../core/names.ts';
import { numberOf } from '../../core/run/subject.ts';
import type { Answer, ApiClient } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm } from '../shell/confirm.ts';
import { idIn, namedThings } from '../shell/named-ids.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

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
    .verb('on', 'Put a node into maintenance: runs, plans and Deploy changes leave it out and say so')
    .example("web3 --reason 'a broken disk' --lock")
    .argument('<node>', 'id or name of the node')
    .requiredOption('--reason <text>', 'why; shown wherever the node is left out')
    .option('--site <site>', OF_SITE)
    .option('--lock', 'also lock its machine in MAAS until the maintenance ends')
    .asks()
    .output()
    .action(async (node: string, { reason, site, lock, yes, ...flags }: OnFlags) => {
      if (reason.trim() === '') throw usageError('--reason is empty', 'Say what is being done to the node.');
      await confirm(
        terminal,
        `Put node ${node} into maintenance? Runs will leave it out.${lock ? ' Its machine is locked in MAAS.' : ''}`,
        yes,
        'asked',
      );
      const body = { reason, ...given({ lock }) };
      const client = await session.client();
      const answer =
        site === undefined
          ? await client.call('PUT /nodes/:id/maintenance', { params: { id: await idOf(client, node) }, body })
          : await client.call('PUT /sites/:site/nodes/:node/maintenance', { params: { site, node }, body });
      const { maintenance, runs, notes } = answer;
      const underWay = runs.map(
        (run) => `run ${numberOf(run)} (${run.kind}) is under way and keeps its plan, which may have the node`,
      );
      await printOne(
        terminal,
        flags,
        answer,
        [`${maintenance.node} is in maintenance`, ...underWay, ...notes].map((line) => `${line}\n`).join(''),
      );
    });

  maintenance
    .verb('off', 'End the maintenance of a node, and show what it missed as a plan; nothing is started')
    .example('web3')
    .argument('<node>', 'id or name of the node')
    .option('--site <site>', OF_SITE)
    .output()
    .action(async (node: string, { site, ...flags }: Flags) => {
      const client = await session.client();
      const answer =
        site === undefined
          ? await client.call('DELETE /nodes/:id/maintenance', { params: { id: await idOf(client, node) } })
          : await client.call('DELETE /sites/:site/nodes/:node/maintenance', { params: { site, node } });
      const { maintenance, unlocked, missed } = answer;
      const head = `${maintenance.node} is back after maintenance since ${maintenance.since} (${maintenance.by}: ${maintenance.reason})\n`;
      await printOne(
        terminal,
        flags,
        answer,
        `${head}${unlocked ? 'its machine is unlocked in MAAS\n' : ''}${missedText(missed, maintenance)}`,
      );
    });

  maintenance
    .verb('list', 'The nodes in maintenance, since when, by whom and why')
    .example()
    .calls(session, 'GET /maintenance', {
      columns: ['node', 'id', 'site', 'cluster', 'since', 'by', 'reason', 'locked'],
    });
}

/** Of a node in the inventory; a machine that was never deployed is not there yet. */
async function idOf(client: ApiClient, node: string): Promise<number> {
  if (isId(node)) return Number(node);
  return idIn('node', node, await namedThings(client, 'node'));
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
