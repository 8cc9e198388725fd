import type { VNode } from 'preact';
import { pendingText, shownStatus } from '../../core/node-system.ts';
import type { Answer } from '../kit/api.ts';
import { SiteLink, State } from '../kit/parts.tsx';
import { type Column, type Selection, Table } from '../kit/table.tsx';
import { InMaintenance } from './maintenance.tsx';

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
      ['Node', (one) => <a href={`/nodes/${one.id}`}>{one.name}</a>, 'name', (one) => one.name],
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

const SITE: Column<Node> = ['Site', ({ site }) => site && <SiteLink of={site} />];

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
