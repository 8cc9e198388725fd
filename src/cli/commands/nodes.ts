import { maintenanceText } from '../../core/maintenance.ts';
import { healthNote, statusWithHealth } from '../../core/node-system.ts';
import type { CliCommand } from '../command.ts';
import { type OutputFlags, printList, printOne } from '../formats/output.ts';
import type { Session } from '../session.ts';
import { registerNodeMaintenance } from './maintenance.ts';
import { registerNodeInventory } from './node-inventory.ts';

interface SelectFlags extends OutputFlags {
  readonly name?: readonly string[];
  readonly tag?: readonly string[];
  readonly label?: readonly string[];
  readonly rack?: readonly string[];
  readonly revision: string;
}

/** `sitewright node …`: nodes in MAAS, by selector, over runs; the inventory. */
export function registerNode(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('node', 'Nodes: inventory, state in MAAS, selection, history');

  group
    .verb('status', 'The nodes of a site with their state in MAAS')
    .example('dc1')
    .argument('<site>', 'name of the site')
    .option('--revision <revision>', 'revision of the nodes: number, hash, latest or last-good (default: the latest)')
    .output()
    .action(async (site: string, flags: OutputFlags & { readonly revision?: string }) => {
      const answer = await (await session.client()).nodes.status(site, flags.revision);
      if (answer.stale)
        terminal.err(`warning: MAAS did not answer (${answer.reason ?? 'unknown'}): this is the last known state\n`);
      const isForPeople = flags.format !== 'json' && flags.format !== 'yaml';
      const nodes = answer.nodes.map((node) =>
        isForPeople && node.health !== undefined
          ? { ...node, status: statusWithHealth(node.health, node.status) }
          : node,
      );
      await printList(terminal, flags, nodes, ['node', 'status', 'power', 'system_id', 'zone', 'tags', 'seen_at']);
      for (const { node, maintenance } of answer.nodes)
        if (maintenance !== undefined) terminal.err(`${node} has been ${maintenanceText(maintenance)}\n`);
      for (const { node, health, reason } of answer.nodes) {
        const note = health && healthNote(node, health, reason);
        if (note) terminal.err(`${note}\n`);
      }
    });

  group
    .verb(
      'select',
      'Names of the nodes that a selector matches: all criteria must hold; without any, every node matches',
    )
    .example('dc1 --tag control --rack r1')
    .argument('<site>', 'name of the site')
    .repeatable('--name <node>', 'name of the node, any of them')
    .repeatable('--tag <tag>', 'tag of the node, any of them')
    .repeatable('--label <key:value>', 'label of the node, any of them')
    .repeatable('--rack <rack>', 'rack of the node, any of them')
    .option('--revision <revision>', 'number, hash, latest or last-good', 'latest')
    .output()
    .action(async (site: string, flags: SelectFlags) => {
      const selector = {
        ...(flags.name ? { node_names: flags.name } : {}),
        ...(flags.tag ? { node_tags: flags.tag } : {}),
        ...(flags.label ? { node_labels: flags.label } : {}),
        ...(flags.rack ? { rack_names: flags.rack } : {}),
      };
      const selectors = Object.keys(selector).length > 0 ? [selector] : [];
      const answer = await (await session.client()).sites.select(site, flags.revision, { selectors, known: true });
      if (flags.format === 'csv')
        return printList(
          terminal,
          flags,
          answer.nodes.map((node) => ({ node })),
          ['node'],
        );
      await printOne(terminal, flags, answer, answer.nodes.map((node) => `${node}\n`).join(''));
    });

  group
    .verb('history', 'One node over the runs of its site, newest first')
    .example('dc1 node-1 --limit 5')
    .argument('<site>', 'name of the site')
    .argument('<node>', 'name of the node')
    .limit()
    .calls(session, 'GET /sites/:site/nodes/:node/history', {
      columns: ['run', 'kind', 'revision', 'state', 'group', 'running', 'failed_in', 'started_at', 'reason'],
      rows: (items) => items.map(({ run, node }) => ({ run: run.id, kind: run.kind, revision: run.revision, ...node })),
    });

  registerNodeInventory(group, session);
  registerNodeMaintenance(group, session);
}
