import type { OwnerKind } from '../../core/words.ts';
import { type Answer, at, send } from '../kit/api.ts';
import { Action, Choice, type FormField, type Given, type Option, optionsOf, Search } from '../kit/ask.tsx';
import { fieldOf } from '../kit/own-data.ts';
import { Empty, Loaded, Title } from '../kit/parts.tsx';
import { filterBy } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { type Column, Table } from '../kit/table.tsx';
import { useOwners } from './graphs.tsx';

/** Tags of a release, cluster or plugin: create, change, delete; and which nodes have them. */
export function TagsView({ query }: { readonly query: URLSearchParams }) {
  const owners = useOwners();
  const options = [...owners].map(([key, name]): Option => [key, `${key.split('/')[0]} ${name}`]);
  const owner = query.get('owner') ?? options.find(([key]) => key.startsWith('cluster/'))?.[0] ?? options[0]?.[0];
  return (
    <>
      <Title of="Tags" />
      {owner === undefined ? (
        <Empty title="No tags yet.">
          <p>
            Tags belong to releases, clusters and plugins. Install a <a href="/packages">package</a> first.
          </p>
        </Empty>
      ) : (
        <OwnerTags key={owner} owner={owner} options={options} wanted={query.get('name') ?? ''} />
      )}
    </>
  );
}

interface OwnerTagsProps {
  readonly owner: string;
  readonly options: readonly Option[];
  readonly wanted: string;
}

function OwnerTags({ owner, options, wanted }: OwnerTagsProps) {
  const [kind, id = ''] = owner.split('/') as [OwnerKind, string?];
  const params = { id };
  const again = listsChanged.value;
  const isCluster = kind === 'cluster';
  const tags = useData(at('GET /tags', { query: { [`${kind}_id`]: id } }), { again });
  const assigned = useData(isCluster ? at('GET /clusters/:id/tag_assignments', { params }) : null, { again });
  const nodes = useData(isCluster ? at('GET /nodes', { query: { cluster_id: id } }) : null, { again });
  const roles = useData(kind === 'plugin' ? null : at(`GET /${kind}s/:id/roles`, { params }));
  const names = new Map((nodes.data ?? []).map((one) => [one.id, one.name]));
  const done = () => {
    tags.reload();
    assigned.reload();
  };
  const create = async ({ texts }: Given): Promise<string | undefined> => {
    if (kind === 'plugin') return undefined;
    const { name = '', role } = texts;
    const body = { name, meta: metaOf(texts), ...(role !== undefined && { role }) };
    await send(`POST /${kind}s/:id/tags`, { params, body });
    done();
    return `Tag ${name} created.`;
  };
  const on = (tag: Tag): Assignment[] => (assigned.data ?? []).filter((one) => one.tag === tag.name);
  const holders: Column<Tag> = ['Nodes', (one) => <Holders of={on(one)} names={names} />, 'wide'];
  return (
    <>
      <div class="filters" role="search" aria-label="Filter tags">
        <Choice
          label="Owner"
          value={owner}
          options={options}
          onChange={(value) => filterBy({ owner: value, name: '' })}
        />
        <Search label="Name" value={wanted} onChange={(value) => filterBy({ name: value })} />
        {kind !== 'plugin' && (
          <Action
            label="Create a tag"
            main
            reason={false}
            fields={[
              { name: 'name', label: 'Name', needed: true, autofocus: true },
              {
                name: 'role',
                label: 'Role with the tag',
                type: 'select',
                options: [['', 'none'], ...optionsOf((roles.data ?? []).map((one) => one.name))],
              },
              PRIMARY,
            ]}
            act={create}
          />
        )}
      </div>
      {kind === 'plugin' && <p class="quiet">Plugin tags come with their packages and cannot be changed here.</p>}
      <Loaded from={tags}>
        {(all) => (
          <Table
            label="Tags"
            rows={all.filter((one) => one.name.includes(wanted))}
            keyOf={(one) => `${one.owner.kind}/${one.owner.id}/${one.name}`}
            empty={all.length === 0 ? 'No tags yet.' : 'No tags match.'}
            next={all.length === 0 && isCluster ? `sitewright tag create --cluster ${id} --name NAME` : undefined}
            columns={[
              ['Tag', (one) => <span class="tag">{one.name}</span>, 'name'],
              [
                'Owner',
                (one) => (
                  <>
                    {one.owner.kind}
                    {one.read_only ? (
                      <>
                        {' '}
                        <span class="quiet">read only</span>
                      </>
                    ) : (
                      ''
                    )}
                  </>
                ),
              ],
              ['Primary', (one) => (hasPrimary(one) ? 'one node' : '')],
              ...(isCluster ? [holders] : []),
              [
                '',
                (one) => <TagActions tag={one} on={on(one)} names={isCluster ? names : null} onDone={done} />,
                'actions',
              ],
            ]}
          />
        )}
      </Loaded>
    </>
  );
}

type Tag = Answer<'GET /tags'>[number];
type Assignment = Answer<'GET /clusters/:id/tag_assignments'>[number];
type Names = ReadonlyMap<number, string>;

const hasPrimary = ({ meta }: Tag): boolean => fieldOf(meta, 'has_primary') === true;

const PRIMARY = { name: 'primary', label: 'One of its nodes is the primary', type: 'checkbox' } as const;

const metaOf = ({ primary }: Given['texts']) => ({ has_primary: primary !== undefined });

/** The nodes that have a tag, and its source. */
const Holders = ({ of, names }: { readonly of: readonly Assignment[]; readonly names: Names }) =>
  of.map((one) => (
    <span class="tag" title={one.role ? `from role ${one.role}` : `from ${one.source}`}>
      {names.get(one.node_id) ?? one.node_id}
    </span>
  ));

interface TagActionsProps {
  readonly tag: Tag;
  readonly on: readonly Assignment[];
  /** Of the cluster's nodes; null where there are none to give it to. */
  readonly names: Names | null;
  readonly onDone: () => void;
}

function TagActions({ tag, on, names, onDone }: TagActionsProps) {
  const { kind, id } = tag.owner;
  const params = { id, name: tag.name };
  const holders = new Set(on.map((one) => one.node_id));
  const change = (verb: 'assign' | 'unassign') => async (given: Given) => {
    await send(`POST /tags/${verb}`, { body: { nodes: given.chosen('nodes').map(Number), tags: [tag.name] } });
    onDone();
  };
  const choices = (has: boolean): FormField[] => [
    {
      name: 'nodes',
      label: 'Nodes',
      type: 'choices',
      needed: true,
      options: [...(names ?? [])]
        .filter(([node]) => holders.has(node) === has)
        .map(([node, name]) => [String(node), name]),
    },
  ];
  const update = async ({ texts }: Given): Promise<void> => {
    if (kind === 'plugin') return;
    const body = { name: tag.name, meta: { ...(tag.meta as object), ...metaOf(texts) } };
    await send(`PUT /${kind}s/:id/tags/:name`, { params, body });
    onDone();
  };
  const remove = async () => {
    if (kind === 'plugin') return;
    await send(`DELETE /${kind}s/:id/tags/:name`, { params });
    onDone();
  };
  return (
    <>
      {names !== null && (
        <>
          <Action
            label="Assign"
            title={`Assign ${tag.name}`}
            reason={false}
            disabled={
              names.size === holders.size && (names.size === 0 ? 'The cluster has no nodes yet.' : 'All nodes have it.')
            }
            fields={choices(false)}
            act={change('assign')}
            done={`${tag.name} assigned.`}
          />
          <Action
            label="Unassign"
            title={`Remove ${tag.name} from nodes`}
            reason={false}
            disabled={holders.size === 0 && 'No node has it.'}
            fields={choices(true)}
            act={change('unassign')}
            done={`${tag.name} removed.`}
          />
        </>
      )}
      {!tag.read_only && (
        <>
          <Action
            label="Change"
            title={`Change ${tag.name}`}
            reason={false}
            fields={[{ ...PRIMARY, value: hasPrimary(tag) }]}
            act={update}
            done={`${tag.name} changed.`}
          />
          <Action
            label="Delete"
            title={`Delete ${tag.name}`}
            explain="Removes it from all nodes."
            reason={false}
            act={remove}
            done={`${tag.name} deleted.`}
            danger
          />
        </>
      )}
    </>
  );
}
