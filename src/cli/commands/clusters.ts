import { given } from '../../core/data/given.ts';
import { together } from '../../core/data/together.ts';
import { namesOfVersion } from '../../core/names.ts';
import { NO_RELEASES_HINT } from '../../core/problems/refusal.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { someOf } from '../../core/text/text.ts';
import type { ApiClient } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { clusterArgument, nameListArgument } from '../shell/id-argument.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { CliError, usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { forTypedSystem } from '../shell/typed-system.ts';
import { sayWhichIsEmpty } from '../shell/which-system.ts';
import { registerClusterData } from './cluster-data.ts';
import { registerClusterVersions } from './cluster-versions.ts';
import { presentGraphRun } from './graph-execute.ts';
import type { FollowFlags } from './started-run.ts';

interface NodesFlags extends OutputFlags {
  readonly node: readonly number[];
}

interface AddFlags extends OutputFlags {
  readonly node?: readonly number[];
  readonly roles?: readonly string[];
  readonly fromSite?: boolean;
}

interface CreateFlags extends OutputFlags {
  readonly release: string;
  readonly site?: string;
  readonly network?: readonly string[];
}

const ID = 'id or name of the cluster';

/** `sitewright cluster …`: environments of nodes that are built from one release. */
export function registerCluster(program: CliCommand, session: Session): void {
  const group = program.verb('cluster', 'Clusters: nodes with roles, built from one release');
  registerEntries(group, session);
  registerNodes(group, session);
  registerRuns(group, session);
  registerClusterVersions(group, session);
  registerClusterData(group, session);
}

const about = (group: CliCommand, name: string, text: string): CliCommand =>
  group.verb(name, text).argument('<id>', ID, clusterArgument);

/** The cluster that the arguments of a command name. */
const textOf = (session: Session, [id = '']: readonly string[]): string => session.textOf('cluster', id);

/** Clusters themselves. */
function registerEntries(group: CliCommand, session: Session): void {
  group
    .verb('list', 'All clusters')
    .example()
    .calls(session, 'GET /clusters', {
      columns: ['id', 'name', 'status', 'release_id', 'site', 'is_locked'],
      after: (found, { flags }) => (found.length === 0 ? sayWhichIsEmpty(session, flags) : undefined),
    });

  about(group, 'show', 'One cluster').example('lab').calls(session, 'GET /clusters/:id');

  about(
    group,
    'check',
    'Check what prevents the next run of a cluster: nodes, roles, settings, limits, tags without nodes',
  )
    .example('lab')
    .nodes('of problems of single nodes, only those of these nodes')
    .calls<'GET /clusters/:id/checks', { readonly node?: readonly number[] }>(session, 'GET /clusters/:id/checks', {
      ask: ({ args: [id = ''], flags: { node } }) => ({ params: { id }, query: { nodes: node?.join(',') } }),
      columns: ['severity', 'code', 'message', 'hint'],
      rows: ({ findings }) => findings,
      after({ ok }) {
        if (!ok) process.exitCode = EXIT.invalid;
      },
    });

  group
    .verb('create', 'Create a cluster from a release')
    .example('lab --release jammy --site dc1')
    .argument('<name>', 'unique name of the cluster')
    .requiredOption('-r, --release <release>', 'release it is built from: its id, NAME, or NAME==VERSION')
    .option('--site <site>', 'site of the machines of its nodes')
    .option('--network <networks...>', 'where networks of the release are in MAAS, each as NAME=SUBNET or NAME=SPACE')
    .calls<'POST /clusters', CreateFlags>(session, 'POST /clusters', {
      async ask({ args: [name = ''], flags: { release, site, network } }) {
        const release_id = /^\d+$/.test(release)
          ? Number(release)
          : await releaseNamed(release, await session.client());
        const networks = network && Object.fromEntries(network.map(placeOfNetwork));
        return { body: { name, release_id, ...(site && { site }), ...(networks && { networks }) } };
      },
      text: ({ id, name }) => `created cluster ${id} ${name}\n`,
    });

  about(group, 'update', 'Rename a cluster, or link it to a site')
    .example('lab --name production')
    .option('--name <name>', 'its new name')
    .option('--site <site>', 'site of the machines of its nodes; none removes the link')
    .calls<'PUT /clusters/:id', { name?: string; site?: string }>(session, 'PUT /clusters/:id', {
      ask({ args: [id = ''], flags: { name, site } }) {
        if (name === undefined && site === undefined) throw usageError('nothing to change', 'Give --name or --site.');
        const body = { ...(name && { name }), ...(site && { site: site === 'none' ? null : site }) };
        return { params: { id }, body };
      },
      text: (_updated, { args }) => `updated ${textOf(session, args)}\n`,
    });

  about(group, 'delete', 'Delete a cluster with its graphs and its history; its nodes become free')
    .example('lab')
    .calls(session, 'DELETE /clusters/:id', {
      question: {
        need: 'required',
        text: ({ args }) => `Delete ${textOf(session, args)} with its graphs and its history?`,
      },
      record: (_gone, { args }) => ({ id: Number(args[0]) }),
      text: (_gone, { args }) => `deleted ${textOf(session, args)}\n`,
    });
}

/** Which nodes a cluster has. */
function registerNodes(group: CliCommand, session: Session): void {
  about(group, 'add-nodes', 'Add nodes to a cluster, with roles')
    .example('lab --node node-1 node-2 --roles web')
    .example('lab --from-site')
    .nodes('ids or names of the nodes')
    .option('--roles <roles...>', 'roles for each of them', nameListArgument)
    .option(
      '--from-site',
      'all nodes of its site that are in no cluster, with the roles that their documents have as tags',
    )
    .output()
    .action((id: string, flags: AddFlags) => addNodes(session, id, flags));

  about(group, 'remove-nodes', 'Remove nodes from a cluster; deployed ones stay until its next deployment removes them')
    .example('lab --node node-2')
    .nodes('ids or names of the nodes', 'required')
    .output()
    .action((id: string, flags: NodesFlags) => removeNodes(session, id, flags));
}

async function addNodes(session: Session, id: string, { node: nodes, roles, fromSite, ...flags }: AddFlags) {
  const cluster = session.textOf('cluster', id);
  const client = await session.client();
  const add = (body: readonly { id: number; roles: readonly string[] }[]) =>
    client.call('POST /clusters/:id/assignment', { params: { id }, body });
  if (fromSite === true && nodes === undefined && roles === undefined) {
    const body = await rolesFromSite(id, cluster, client);
    if (body.length > 0) await add(body);
    const lines = [...together(body, ({ roles: own }) => own.join(', '))].map(
      ([own, some]) =>
        `added ${nodesText(
          session,
          some.map((node) => node.id),
        )} to ${cluster} as ${own}\n`,
    );
    const text = lines.length === 0 ? 'every node of the site is in a cluster\n' : lines.join('');
    return printOne(session.terminal, flags, { id: Number(id), nodes: body }, text);
  }
  if (nodes === undefined || fromSite === true) throw whichNodes();
  const leaving = (await leavingOf(id, client)).filter((node) => nodes.includes(node.id));
  const rolesOf = new Map(leaving.map((node) => [node.id, [...node.roles, ...node.pending_roles]]));
  if (roles === undefined && nodes.some((node) => !rolesOf.has(node))) throw whichNodes();
  await add(nodes.map((node) => ({ id: node, roles: roles ?? rolesOf.get(node) ?? [] })));
  const added = nodes.filter((node) => !rolesOf.has(node));
  const text = [
    ...(added.length === 0
      ? []
      : [`added ${nodesText(session, added)} to ${cluster} as ${(roles ?? []).join(', ')}\n`]),
    ...(leaving.length === 0
      ? []
      : [
          `${nodesText(
            session,
            leaving.map(({ id: node }) => node),
          )} ${stays(leaving.length)} in ${cluster}: the removal is taken back\n`,
        ]),
  ];
  await printOne(session.terminal, flags, { id: Number(id), nodes, ...given({ roles }) }, text.join(''));
}

async function removeNodes(session: Session, id: string, { node: nodes, ...flags }: NodesFlags) {
  const { terminal } = session;
  const cluster = session.textOf('cluster', id);
  const client = await session.client();
  const body = nodes.map((node) => ({ id: node }));
  await client.call('POST /clusters/:id/unassignment', { params: { id }, body });
  const leaving = new Set((await leavingOf(id, client)).map((node) => node.id));
  const [pending, removed] = [true, false].map((is) => nodes.filter((node) => leaving.has(node) === is)) as [
    number[],
    number[],
  ];
  const one = pending.length === 1;
  const text = [
    ...(removed.length === 0 ? [] : [`removed ${nodesText(session, removed)} from ${cluster}\n`]),
    ...(pending.length === 0
      ? []
      : [
          `${nodesText(session, pending)} ${one ? 'is' : 'are'} deployed: ${one ? 'its' : 'their'} removal from ${cluster} is pending until the next deployment\n`,
          `  remove now:  sitewright cluster deploy ${id}\n`,
          `  take back:   sitewright cluster add-nodes ${id} --node ${pending.join(',')}\n`,
        ]),
  ];
  await printOne(terminal, flags, { id: Number(id), nodes, removed, pending }, forTypedSystem(terminal, text.join('')));
}

/** Runs of a cluster's graphs. */
function registerRuns(group: CliCommand, session: Session): void {
  for (const [name, route, text] of [
    [
      'deploy',
      'PUT /clusters/:id/changes/',
      'Deploy changes: the sequence deploy-changes of its release, else its graphs deletion, provisioning, default',
    ],
    ['redeploy', 'PUT /clusters/:id/changes/redeploy/', 'Deploy everything, as if nothing had been deployed before'],
  ] as const) {
    about(group, name, text)
      .example('lab --dry-run', 'what it would run')
      .example('lab --watch')
      .dryRuns()
      .follows()
      .action(async (id: string, { dryRun, noop, ...flags }: FollowFlags & { dryRun?: boolean; noop?: boolean }) => {
        const query = { dry_run: dryRun ? 1 : undefined, noop_run: noop ? 1 : undefined };
        const started = await session.call(route, { params: { id }, query });
        await presentGraphRun(session, started, { ...flags, ...given({ dryRun }), force: name === 'redeploy' });
      });
  }

  about(group, 'stop', 'Stop the run of a cluster gracefully: nothing new starts and running work finishes')
    .example('lab')
    .calls(session, 'PUT /clusters/:id/stop_deployment/', {
      record: (_stopped, { args }) => ({ id: Number(args[0]) }),
      text: (_stopped, { args }) => `the run of ${textOf(session, args)} is stopping\n`,
    });
}

const whichNodes = () =>
  usageError('name nodes and their roles, or take both from the site', 'Give --node and --roles, or --from-site.');

/** Nodes as they were named in the command. */
const nodesText = ({ called }: Session, ids: readonly number[]): string =>
  `${ids.length === 1 ? 'node' : 'nodes'} ${someOf(
    ids.map((id) => called.get(`node ${id}`) ?? `${id}`),
    NAMED,
  )}`;

/** So many nodes are named in one line. */
const NAMED = 12;

const stays = (nodes: number): string => (nodes === 1 ? 'stays' : 'stay');

/** The nodes of a cluster whose removal is pending. */
const leavingOf = async (cluster: string, client: ApiClient) =>
  (await client.call('GET /nodes', { query: { cluster_id: cluster } })).filter((node) => node.pending_deletion);

/** Of several versions the one that was installed last. */
async function releaseNamed(name: string, client: ApiClient): Promise<number> {
  const releases = await client.call('GET /releases');
  const found =
    releases.filter((one) => one.name === name).at(-1) ??
    releases.find((one) => namesOfVersion(one.name, one.version).includes(name));
  if (found !== undefined) return found.id;
  const names = [...new Set(releases.map((one) => one.name))];
  const hint = names.length === 0 ? NO_RELEASES_HINT : (didYouMean(name, names) ?? `There are: ${names.join(', ')}.`);
  throw new CliError({ code: 'not-found', message: `there is no release '${name}'`, hint }, EXIT.notFound);
}

/** Nodes of the cluster's site that are in no cluster; each has those of the cluster's roles that are its tags. */
async function rolesFromSite(id: string, text: string, client: ApiClient): Promise<{ id: number; roles: string[] }[]> {
  const { site } = await client.call('GET /clusters/:id', { params: { id } });
  if (site === null || site === undefined)
    throw usageError(`${text} has no site`, `Link it: sitewright ${text.replace(' ', ' update ')} --site SITE`);
  const [all, roles] = await Promise.all([
    client.call('GET /nodes'),
    client.call('GET /clusters/:id/roles', { params: { id } }),
  ]);
  const free = all.filter((node) => node.site === site && node.cluster === null);
  const given = new Map(free.map((node) => [node.name, { id: node.id, roles: [] as string[] }]));
  for (const { name } of roles) {
    const { nodes } = await client.sites.select(site, 'latest', { selectors: [{ node_tags: [name] }] });
    for (const node of nodes) given.get(node)?.roles.push(name);
  }
  const without = [...given].filter(([, node]) => node.roles.length === 0).map(([name]) => name);
  if (without.length > 0)
    throw usageError(
      `no tag of ${without.join(', ')} is a role of ${text}`,
      `Its roles: ${roles.map(({ name }) => name).join(', ')}. Add one to metadata.tags of the node, or use --node and --roles.`,
    );
  return [...given.values()];
}

/** `name=subnet`. @throws CliError for other forms */
function placeOfNetwork(text: string): readonly [name: string, place: string] {
  const [, name, place] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || place === undefined)
    throw usageError(`'${text}' is not a network and its place`, 'Write NAME=SUBNET, such as service=10.77.0.0/24.');
  return [name, place];
}
