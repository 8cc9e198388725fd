import { type Answer, send } from '../kit/api.ts';
import { Action, Choice, Filters, type FormField, type Given, type Option, optionsOf, Search } from '../kit/ask.tsx';
import { Pages } from '../kit/parts.tsx';
import { fieldsOf, filterBy } from '../kit/router.ts';
import { Chosen, useSelection } from '../kit/table.tsx';
import { count, some } from '../kit/words.ts';
import { NodeTable } from './node-table.tsx';

const PAGE = 50;

export type Node = Answer<'GET /nodes'>[number];

interface ClusterNodesProps {
  readonly cluster: string;
  readonly nodes: readonly Node[];
  readonly tags: readonly string[];
  readonly query: URLSearchParams;
  readonly onDone: () => void;
}

/** Nodes of a cluster, in pages, with filters in the address; actions apply to one or many. */
export function ClusterNodes({ cluster, nodes, tags, query, onDone }: ClusterNodesProps) {
  const [name, role, status] = fieldsOf(query, ['name', 'role', 'status']);
  const page = Number(query.get('page') ?? 0);
  const rolesOf = (one: Node): string[] => [...one.roles, ...one.pending_roles];
  const wanted = nodes.filter(
    (one) =>
      `${one.name} ${one.hostname} ${one.ip} ${one.mac} ${one.tags.join(' ')}`
        .toLowerCase()
        .includes(name.toLowerCase()) &&
      (role === '' || rolesOf(one).includes(role)) &&
      (status === '' || one.status === status),
  );
  const selection = useSelection(wanted, { keyOf: (one) => one.id, nameOf: (one) => one.name });
  const choose = (field: string) => (value: string) => filterBy({ [field]: value, page: '' });
  const choices = (all: readonly string[]): Option[] => [['', 'all'], ...optionsOf([...new Set(all)].sort())];
  const isFiltered = name !== '' || role !== '' || status !== '';
  const done = () => {
    selection.clear();
    onDone();
  };
  return (
    <>
      <Filters label="Filter nodes" of={['name', 'role', 'status']}>
        <Search label="Name, address or tag" value={name} onChange={choose('name')} />
        <Choice label="Role" value={role} options={choices(nodes.flatMap(rolesOf))} onChange={choose('role')} />
        <Choice
          label="Status"
          value={status}
          options={choices(nodes.map((one) => one.status))}
          onChange={choose('status')}
        />
        <span class="quiet">{count(wanted.length, 'node')}</span>
        {wanted.length > PAGE && (
          <button
            type="button"
            onClick={() =>
              selection.toggle(
                wanted.map((one) => one.id),
                true,
              )
            }
          >
            Choose all {wanted.length}
          </button>
        )}
      </Filters>
      <Chosen selection={selection} what="node">
        <NodeActions cluster={cluster} nodes={selection.rows} tags={tags} onDone={done} />
      </Chosen>
      <NodeTable
        nodes={wanted.slice(page * PAGE, (page + 1) * PAGE)}
        selection={selection}
        empty={isFiltered ? 'No nodes match.' : 'No nodes yet: add some below.'}
      />
      <Pages page={page} size={PAGE} of={wanted.length} />
    </>
  );
}

/** Nodes with a deployment to undo stay until the next one. */
function removedText(nodes: readonly Node[]): string {
  const staying = nodes.filter(
    (one) => !one.pending_addition && one.status !== 'discover' && one.error_type !== 'provision',
  ).length;
  const pending = `The removal of ${count(staying, 'node')} is pending until the next deployment.`;
  const removed = `${count(nodes.length - staying, 'node')} removed from the cluster.`;
  return [...(staying < nodes.length ? [removed] : []), ...(staying > 0 ? [pending] : [])].join(' ');
}

/** Actions for one or many nodes of a cluster. */
function NodeActions({ cluster, nodes, tags, onDone }: Omit<ClusterNodesProps, 'query'>) {
  const ids = nodes.map((one) => one.id);
  const all = nodes.map((one) => one.name);
  const names = some(all, 4);
  const change = (verb: 'assign' | 'unassign') => async (given: Given) => {
    await send(`POST /tags/${verb}`, { body: { nodes: ids, tags: given.chosen('tags') } });
    onDone();
  };
  const take = async () => {
    await send('POST /clusters/:id/unassignment', { params: { id: cluster }, body: ids.map((id) => ({ id })) });
    onDone();
  };
  const leaving = nodes.filter((one) => one.pending_deletion);
  const keep = async () => {
    const body = leaving.map((one) => ({ id: one.id, roles: [...one.roles, ...one.pending_roles] }));
    await send('POST /clusters/:id/assignment', { params: { id: cluster }, body });
    onDone();
  };
  const choices = (of: readonly string[]): FormField[] => [
    { name: 'tags', label: 'Tags', type: 'choices', needed: true, options: optionsOf([...new Set(of)].sort()) },
  ];
  const free = tags.filter((tag) => nodes.some((one) => !one.tags.includes(tag)));
  const own = nodes.flatMap((one) => one.tags);
  return (
    <>
      <Action
        label="Assign tags"
        title={`Assign tags to ${names}`}
        reason={false}
        disabled={free.length === 0 && 'All tags of this cluster are assigned. Create more on the page Tags.'}
        fields={choices(free)}
        act={change('assign')}
        done={`${names}: tags assigned.`}
      />
      <Action
        label="Unassign"
        title={`Remove tags from ${names}`}
        reason={false}
        disabled={own.length === 0 && 'No tags to remove.'}
        fields={choices(own)}
        act={change('unassign')}
        done={`${names}: tags removed.`}
      />
      <Action
        label="Remove"
        title={`Remove ${names} from the cluster`}
        explain="Deployed nodes leave with the next deployment, others immediately."
        preview={() => <p>{some(all, 30)}</p>}
        reason={false}
        act={take}
        done={removedText(nodes)}
        danger
      />
      {leaving.length > 0 && (
        <Action
          label="Keep"
          title={`Keep ${count(leaving.length, 'node')} in the cluster`}
          preview={() => <p>{leaving.map(({ name }) => name).join(', ')}</p>}
          explain="Takes the pending removal back."
          reason={false}
          act={keep}
          done={`${count(leaving.length, 'node')} kept in the cluster.`}
        />
      )}
    </>
  );
}
