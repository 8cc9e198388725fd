import { given } from '../../core/data/given.ts';
import { maintenanceText } from '../../core/maintenance.ts';
import { healthNote, outOfServiceOf, pendingText, shownStatus, statusWithHealth } from '../../core/node-system.ts';
import { stateWord } from '../../core/state-word.ts';
import { gapsText, runMissed } from '../../core/version-text.ts';
import type { Answer, ApiClient } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm } from '../shell/confirm.ts';
import { nameListArgument, nodeArgument, nodeListArgument } from '../shell/id-argument.ts';
import { type OutputFlags, printList, printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { versionColumns } from './cluster-versions.ts';
import { registerNodeMaintenance } from './maintenance.ts';

type Node = Answer<'GET /nodes/:id'>;

interface ListFlags extends OutputFlags {
  readonly cluster?: string;
  readonly site?: string;
  readonly versions?: boolean;
}

interface RegisterFlags extends OutputFlags {
  readonly name?: readonly string[];
  readonly mac?: string;
  readonly ip?: string;
  readonly site?: string;
  readonly provisioned?: boolean;
}

const COLUMNS = ['id', 'name', 'status', 'online', 'cluster', 'site', 'roles', 'pending_roles', 'ip'];
const WITH_AGENTS = COLUMNS.toSpliced(4, 0, 'agent');

interface SelectFlags extends OutputFlags {
  readonly name?: readonly string[];
  readonly tag?: readonly string[];
  readonly label?: readonly string[];
  readonly rack?: readonly string[];
  readonly revision: string;
}

/** `sitewright node …`: nodes in MAAS, by selector, over runs; the inventory. */
export function registerNode(program: CliCommand, session: Session): void {
  const group = program.verb('node', 'Nodes: inventory, state in MAAS, selection, history');
  registerOfSite(group, session);
  registerViews(group, session);
  registerChanges(group, session);
  registerNodeMaintenance(group, session);
}

/** The nodes in the documents of a site. */
function registerOfSite(group: CliCommand, session: Session): void {
  const { terminal } = session;
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
}

/** What the inventory says of nodes for clusters. */
function registerViews(group: CliCommand, session: Session): void {
  const { terminal } = session;
  group
    .verb('list', 'Nodes of the inventory, with their ids, clusters and roles')
    .example('--cluster lab')
    .ofCluster('only those of this cluster')
    .option('--site <site>', 'only machines of this site')
    .option('--versions', 'what each was deployed with: release, plugins, settings, documents')
    .output()
    .action((flags: ListFlags) => listNodes(session, flags));

  group
    .verb('show', 'One node of the inventory, with what it was deployed with')
    .example('node-1')
    .argument('<node>', 'id or name of the node', nodeArgument)
    .output()
    .action(async (id: string, flags: OutputFlags) => {
      const node = await session.call('GET /nodes/:id', { params: { id } });
      const [versions] = await versionsOf(session, [node]);
      const { meta: _, network_data: __, ...about } = node;
      const record = { ...about, versions: versions ?? null };
      const { maintenance } = node;
      const rows = {
        id: node.id,
        name: node.name,
        status: [stateWord(shownStatus(node)), pendingText(node)].filter(Boolean).join(', '),
        ...(maintenance !== undefined && { maintenance: maintenanceText(maintenance) }),
        cluster: node.cluster,
        site: node.site,
        roles: node.roles,
        tags: node.tags,
        ip: node.ip,
        mac: node.mac,
        ...(versions !== undefined && {
          versions: gapsText(versions.behind),
          ...versionColumns(versions.deployed, versions.revision),
          ...(versions.missed.length > 0 && {
            'not run': versions.missed.map(({ task, why }) => `${task}: ${why}`),
            'run it': runMissed(node.cluster!, versions.missed, node.id),
          }),
        }),
      };
      await printOne(terminal, flags, flags.format === 'table' ? rows : record);
    });
}

function registerChanges(group: CliCommand, session: Session): void {
  group
    .verb('register', 'Add machines to the inventory: named ones, or all of a site')
    .example('--site dc1', 'all nodes of its documents')
    .example('--name node-1 --mac 52:54:00:00:00:01')
    .option('--name <names...>', 'their names (default: all nodes in the documents of --site)', nameListArgument)
    .option('--mac <address>', 'MAC of its boot interface; for one machine')
    .option('--ip <address>', 'its address; for one machine')
    .option('--site <site>', 'site of the machines')
    .option('--provisioned', 'they already have an operating system: graphs may run there')
    .output()
    .action((flags: RegisterFlags) => register(session, flags));

  group
    .verb('delete', 'Delete nodes from the inventory; deployed ones only with --force. Their machines are not touched')
    .example('node-1')
    .argument('<ids...>', 'ids or names of the nodes', nodeListArgument)
    .option('--force', 'even if a cluster has deployed them')
    .asks()
    .output()
    .action(
      async (ids: readonly number[], { force, yes, ...flags }: OutputFlags & { force?: boolean; yes?: boolean }) => {
        const which = ids.map((id) => session.textOf('node', id)).join(', ');
        await confirm(session.terminal, `Delete ${which} from the inventory?`, yes, 'required');
        const query = { ids: ids.join(','), force: force ? 1 : undefined };
        await session.call('DELETE /nodes', { query });
        await printOne(session.terminal, flags, { ids }, `deleted ${which}\n`);
      },
    );
}

async function listNodes(session: Session, { cluster, site, versions, ...flags }: ListFlags) {
  const { terminal } = session;
  const client = await session.client();
  const nodes = await inventory(client, cluster);
  const shown = site === undefined ? nodes : nodes.filter((node) => node.site === site);
  if (versions) return listVersions(session, shown, flags);
  const agents = await agentsOf(client, shown, cluster);
  // Programs get Fuel's words.
  const isForPrograms = flags.format === 'json' || flags.format === 'yaml';
  const statusOf = (node: Node): string =>
    isForPrograms
      ? node.status
      : [stateWord(shownStatus(node)), node.maintenance && 'in maintenance', pendingText(node)]
          .filter(Boolean)
          .join(', ');
  const rows = shown.map((node) => ({ ...node, status: statusOf(node), agent: agents?.get(node.id) ?? null }));
  await printList(terminal, flags, rows, WITH_AGENTS);
  for (const node of shown) {
    const state = outOfServiceOf({ ...node, errorMsg: node.error_msg });
    const note = state && healthNote(node.name, state, node.error_msg);
    if (note) terminal.err(`${note}\n`);
  }
  for (const { name, maintenance } of shown)
    if (maintenance !== undefined) terminal.err(`${name} has been ${maintenanceText(maintenance)}\n`);
  const without = [...new Set(rows.flatMap((node) => (node.agent === false ? (node.cluster ?? []) : [])))];
  if (without.length === 0) return;
  terminal.err(
    `nodes whose agent is false run no tasks. Start them on this machine, or see docs/how-to/agents.md:\n${without.map((id) => `  sitewright agent run --cluster ${id}\n`).join('')}`,
  );
}

type NodeVersions = Answer<'GET /clusters/:id/versions'>['nodes'][number];

/** What nodes were deployed with, of those that are in a cluster. */
async function versionsOf(session: Session, nodes: readonly Node[]): Promise<readonly NodeVersions[]> {
  const wanted = new Set(nodes.map(({ id }) => id));
  const clusters = [...new Set(nodes.flatMap(({ cluster }) => cluster ?? []))];
  const client = await session.client();
  const all = await Promise.all(clusters.map((id) => client.call('GET /clusters/:id/versions', { params: { id } })));
  return all.flatMap((one) => one.nodes).filter(({ id }) => wanted.has(id));
}

async function listVersions(session: Session, nodes: readonly Node[], flags: OutputFlags): Promise<void> {
  const versions = new Map((await versionsOf(session, nodes)).map((one) => [one.id, one]));
  const isForPrograms = flags.format === 'json' || flags.format === 'yaml';
  const rows = nodes.map(({ id, name, cluster }) => {
    const one = versions.get(id);
    if (isForPrograms) return { id, name, cluster, versions: one ?? null };
    return {
      id,
      name,
      cluster,
      ...(one && { state: gapsText(one.behind), ...versionColumns(one.deployed, one.revision) }),
    };
  });
  await printList(session.terminal, flags, rows, [
    'id',
    'name',
    'cluster',
    ...(isForPrograms ? ['versions'] : ['state', 'run', 'release', 'plugins', 'settings', 'documents']),
  ]);
}

async function inventory(client: ApiClient, cluster?: string): Promise<readonly Node[]> {
  const nodes = await client.call('GET /nodes', { query: { cluster_id: cluster } });
  // Fuel's list is empty for a cluster that does not exist.
  if (nodes.length === 0 && cluster !== undefined) await client.call('GET /clusters/:id', { params: { id: cluster } });
  return nodes;
}

/** Whether the agent of each node of a cluster is online; undefined if unknown because Temporal is unreachable. */
async function agentsOf(
  client: ApiClient,
  nodes: readonly Node[],
  cluster: string | undefined,
): Promise<ReadonlyMap<number, boolean> | undefined> {
  if (!nodes.some((node) => node.cluster !== null)) return undefined;
  const agents = await client.call('GET /agents', { query: { cluster_id: cluster } }).catch(() => undefined);
  return agents && new Map(agents.map(({ id, online }) => [id, online]));
}

/** Registers one machine at a time. For a whole site, it skips known ones, so it may be repeated. */
async function register(session: Session, { name, mac, ip, site, provisioned, ...flags }: RegisterFlags) {
  if (name === undefined && site === undefined && mac === undefined)
    throw usageError('nothing to register', 'Give --name, or --site for all nodes of its documents.');
  if ((mac !== undefined || ip !== undefined) && name !== undefined && name.length > 1)
    throw usageError('--mac and --ip are for one machine', 'Register the machines one by one.');
  const client = await session.client();
  const whole = name === undefined && mac === undefined;
  let names: readonly (string | undefined)[] = name ?? [undefined];
  if (whole) {
    if (ip !== undefined) throw usageError('--ip is for one machine', 'Name it with --name.');
    // Of those, the documents may be all that is known.
    const isNew = (node: Node): boolean => provisioned === true && node.status === 'discover' && node.cluster === null;
    const known = new Set(
      (await inventory(client)).filter((node) => node.site === site && !isNew(node)).map((node) => node.name),
    );
    names = (await client.sites.select(site!, 'latest', { selectors: [] })).nodes.filter((one) => !known.has(one));
  }
  const made: Node[] = [];
  for (const one of names) {
    const body = {
      ...given({ name: one, mac, ip, site }),
      ...(provisioned ? { status: 'provisioned' as const, online: true } : {}),
    };
    made.push(await client.call('POST /nodes', { body }));
  }
  if (flags.format === 'table' && flags.column === undefined) {
    for (const node of made) session.terminal.out(`registered node ${node.id} ${node.name}\n`);
    if (made.length === 0) session.terminal.out(`all nodes of ${site} are already registered\n`);
    return;
  }
  await printList(session.terminal, flags, made, COLUMNS);
}
