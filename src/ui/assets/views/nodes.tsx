import type { VNode } from 'preact';
import { pendingText, shownStatus } from '../../../core/node-system.ts';
import { NODE_STATUSES } from '../../../core/words.ts';
import { type Answer, at } from '../api.ts';
import { Choice, type Option, optionsOf, Search } from '../ask.tsx';
import { Cells, Command, Empty, Loaded, State, Title } from '../parts.tsx';
import { filterBy } from '../router.ts';
import { listsChanged, useData } from '../store.ts';
import { type Column, type Selection, Table } from '../table.tsx';
import { count, type Look, said } from '../words.ts';
import { InMaintenance } from './maintenance.tsx';

const RANK: Readonly<Record<string, number>> = { error: 0, deploying: 1, provisioning: 1 };

/** The inventory: a grid of all, and a table of those that are asked for. */
export function NodesView({ query: given }: { readonly query: URLSearchParams }) {
  const filter = { status: given.get('status') ?? '', cluster_id: given.get('cluster') ?? '' };
  const [name, role] = [given.get('name') ?? '', given.get('role') ?? ''];
  const nodes = useData(at('GET /nodes', { query: { ...filter, roles: role } }), {
    again: listsChanged.value,
    every: 15_000,
  });
  const clusters = useData(at('GET /clusters'), { again: listsChanged.value });
  const nameOf = new Map((clusters.data ?? []).map((one) => [one.id, one.name]));
  const isFiltered = [name, role, filter.status, filter.cluster_id].some((one) => one !== '');
  const choose = (field: string) => (value: string) => filterBy({ [field]: value });
  const roles = [...new Set((nodes.data ?? []).flatMap((one) => [...one.roles, ...one.pending_roles]))].sort();
  return (
    <>
      <Title of="Nodes" />
      <form class="filters" role="search" aria-label="Filter nodes" onSubmit={(event) => event.preventDefault()}>
        <Search label="Name" value={name} onChange={choose('name')} />
        <Choice
          label="Cluster"
          value={filter.cluster_id}
          options={[['', 'all'], ...[...nameOf].map(([id, one]): Option => [String(id), one])]}
          onChange={choose('cluster')}
        />
        <Choice
          label="Role"
          value={role}
          options={[['', 'all'], ...optionsOf(new Set([...roles, ...(role ? [role] : [])]))]}
          onChange={choose('role')}
        />
        <Choice
          label="Status"
          value={filter.status}
          options={[['', 'all'], ...optionsOf(NODE_STATUSES)]}
          onChange={choose('status')}
        />
        {isFiltered && (
          <button type="button" onClick={showAll}>
            Show all
          </button>
        )}
      </form>
      <Loaded from={nodes}>
        {(all) => {
          const wanted = all
            .filter((one) => `${one.name} ${one.hostname} ${one.mac} ${one.ip}`.includes(name))
            .sort((a, b) => (RANK[a.status] ?? 2) - (RANK[b.status] ?? 2) || a.id - b.id);
          if (all.length === 0 && !isFiltered) return <NoNode />;
          const cells = wanted.map((one) => ({
            key: one.id,
            name: one.name,
            look: one.maintenance ? ('warn' as const) : (CELL[shownStatus(one)] ?? 'wait'),
            note: one.maintenance ? 'in maintenance' : one.online ? said(shownStatus(one)) : 'away',
            away: !one.online,
            text: `${one.name}: ${said(shownStatus(one))}${one.online ? '' : ', offline'}${one.maintenance ? ', in maintenance' : ''}`,
          }));
          const failed = wanted.filter((one) => one.status === 'error').length;
          return (
            <>
              <p class="facts">
                {count(wanted.length, 'node')}
                {failed > 0 ? (
                  <>
                    , <span class="bad">{failed} failed</span>
                  </>
                ) : (
                  ''
                )}
                {wanted.some((one) => one.maintenance)
                  ? `, ${wanted.filter((one) => one.maintenance).length} in maintenance`
                  : ''}
                {wanted.some((one) => !one.online) ? `, ${wanted.filter((one) => !one.online).length} offline` : ''}
              </p>
              <Cells
                label="Nodes at a glance"
                cells={cells}
                chosen={name}
                onChoose={({ name: chosen }) => filterBy({ name: chosen === name ? '' : chosen })}
              />
              <NodeTable nodes={wanted} nameOf={nameOf} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

const CELL: Readonly<Record<string, Look>> = {
  ready: 'ok',
  error: 'bad',
  bare: 'bad',
  deploying: 'busy',
  provisioning: 'busy',
  provisioned: 'half',
  stopped: 'warn',
  removing: 'warn',
};

const showAll = () => filterBy({ name: '', role: '', status: '', cluster: '' });

const NoNode = () => (
  <Empty title="No nodes yet.">
    <p>
      Nodes are added when the documents of their <a href="/sites">site</a> are committed. Register others by name, one
      or many:
    </p>
    <Command text="sitewright node register --name NAME" />
    <Command text="sitewright node register --site SITE" />
  </Empty>
);

type Node = Answer<'GET /nodes'>[number];

interface NodeTableProps {
  readonly nodes: readonly Node[];
  /** Names of clusters: shown only with them. */
  readonly nameOf?: ReadonlyMap<number, string>;
  readonly selection?: Selection<Node>;
  readonly empty?: string | VNode;
}

/** Nodes with their roles. */
export const NodeTable = ({ nodes, nameOf, selection, empty = 'No nodes match.' }: NodeTableProps) => (
  <Table
    label="Nodes"
    rows={nodes}
    keyOf={(one) => one.id}
    empty={empty}
    selection={selection}
    columns={[
      [
        'Node',
        (one) => (
          <>
            <a href={`/nodes/${one.id}`}>{one.name}</a>{' '}
            <span class="quiet" title="id">
              {one.id}
            </span>
          </>
        ),
        'name',
        (one) => one.name,
      ],
      [
        'Status',
        (one) => (
          <>
            <State of={shownStatus(one)} /> {!one.online && <span class="bad">offline</span>}{' '}
            {pendingText(one) && <span class="quiet">{pendingText(one)}</span>}
            <InMaintenance of={one.maintenance} />
            {one.error_msg && <p class="bad">{one.error_msg}</p>}
          </>
        ),
        undefined,
        (one) => `${one.status} ${one.online} ${one.maintenance?.since ?? ''}`,
      ],
      ...(nodes.some((one) => one.site) ? [SITE] : []),
      ...(nameOf === undefined ? [] : [clusterIn(nameOf)]),
      [
        'Roles',
        (one) => (
          <>
            {one.roles.join(', ')}{' '}
            {one.pending_roles.length > 0 && <span class="quiet">pending: {one.pending_roles.join(', ')}</span>}
          </>
        ),
      ],
      [
        'Tags',
        (one) =>
          one.tags.map((tag) => (
            <span class="tag" title={one.primary_tags.includes(tag) ? 'primary' : undefined}>
              {tag}
              {one.primary_tags.includes(tag) ? '★' : ''}
            </span>
          )),
      ],
      ...(nodes.some((one) => one.ip || one.mac) ? [ADDRESS] : []),
    ]}
  />
);

const SITE: Column<Node> = ['Site', ({ site }) => site && <a href={`/sites/${encodeURIComponent(site)}`}>{site}</a>];

const clusterIn = (nameOf: ReadonlyMap<number, string>): Column<Node> => [
  'Cluster',
  ({ cluster }) => cluster && <a href={`/clusters/${cluster}`}>{nameOf.get(cluster) ?? cluster}</a>,
];

const ADDRESS: Column<Node> = [
  'Address',
  ({ ip, mac }) => (
    <>
      {ip ?? ''} <span class="quiet">{mac ?? ''}</span>
    </>
  ),
];
