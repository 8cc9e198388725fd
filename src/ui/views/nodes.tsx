import { NODE_STATUSES } from '../../core/words.ts';
import { at } from '../kit/api.ts';
import { Choice, Filters, type Option, optionsOf, Search } from '../kit/ask.tsx';
import { Bad, Command, Empty, Loaded, Title } from '../kit/parts.tsx';
import { filterBy } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { count } from '../kit/words.ts';
import { Fleet } from './fleet.tsx';
import { NodeTable } from './node-table.tsx';

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
      <Filters label="Filter nodes" of={['name', 'role', 'status', 'cluster']}>
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
      </Filters>
      <Loaded from={nodes}>
        {(all) => {
          const wanted = all
            .filter((one) => `${one.name} ${one.hostname} ${one.mac} ${one.ip}`.includes(name))
            .sort((a, b) => (RANK[a.status] ?? 2) - (RANK[b.status] ?? 2) || a.id - b.id);
          if (all.length === 0 && !isFiltered) return <NoNode />;
          const failed = wanted.filter((one) => one.status === 'error').length;
          return (
            <>
              <p class="facts">
                {count(wanted.length, 'node')}
                <Bad n={failed} />
                {wanted.some((one) => one.maintenance)
                  ? `, ${wanted.filter((one) => one.maintenance).length} in maintenance`
                  : ''}
                {wanted.some((one) => !one.online) ? `, ${wanted.filter((one) => !one.online).length} offline` : ''}
              </p>
              <Fleet query={given} only={new Set(wanted.map(({ id }) => id))} />
              <NodeTable nodes={wanted} nameOf={nameOf} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

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
