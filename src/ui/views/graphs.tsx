import { type Answer, at } from '../kit/api.ts';
import { Choice, optionsOf, Search } from '../kit/ask.tsx';
import { Command, Empty, Loaded, Title } from '../kit/parts.tsx';
import { fieldsOf, filterBy } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';

/** All graphs that are kept, by owner and type. */
export function GraphsView({ query }: { readonly query: URLSearchParams }) {
  const graphs = useData(at('GET /graphs/'), { again: listsChanged.value });
  const owners = useOwners();
  const [type, name] = fieldsOf(query, ['type', 'name']);
  return (
    <>
      <Title of="Graphs" />
      <Loaded from={graphs}>
        {(all) => {
          const types = [...new Set(all.flatMap((one) => one.relations.map((of) => of.type)))].sort();
          if (all.length === 0) return <NoGraph />;
          const rows = all.filter(
            (one) =>
              (type === '' || one.relations.some((of) => of.type === type)) &&
              `${nameOf(one)} ${one.relations.map((of) => owners.get(`${of.model}/${of.model_id}`)).join(' ')}`.includes(
                name,
              ),
          );
          return (
            <>
              <div class="filters" role="search" aria-label="Filter graphs">
                <Search label="Name or owner" value={name} onChange={(value) => filterBy({ name: value })} />
                <Choice
                  label="Type"
                  value={type}
                  options={[['', 'all'], ...optionsOf(types)]}
                  onChange={(value) => filterBy({ type: value })}
                />
              </div>
              <Table
                label="Graphs"
                rows={rows}
                keyOf={(one) => one.id}
                empty="No graphs match."
                columns={[
                  ['Graph', (one) => <a href={`/graphs/${one.id}`}>{nameOf(one)}</a>, 'name'],
                  ['Type', (one) => one.relations.map((of) => of.type).join(', ')],
                  ['Owner', (one) => one.relations.map((of) => <Owner of={of} names={owners} />)],
                  ['Tasks', (one) => one.tasks.length, 'number'],
                  [
                    '',
                    (one) => (
                      <a href={at('GET /graphs/:id', { params: { id: one.id } })} download={`graph-${one.id}.json`}>
                        Download
                      </a>
                    ),
                    'actions',
                  ],
                ]}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

const NoGraph = () => (
  <Empty title="No graphs yet.">
    <p>
      Releases contain graphs; install their <a href="/packages">packages</a>. To upload your own for a cluster:
    </p>
    <Command text="sitewright graph upload --cluster 1 --type default --file FILE" />
  </Empty>
);

type Graph = Answer<'GET /graphs/:id'>;

/** Name of a graph: many have only their type. */
export const nameOf = (graph: Graph): string => graph.name || `${graph.relations[0]?.type ?? 'graph'} #${graph.id}`;

/** Names of owners of graphs and tags, by `kind/id`. */
export function useOwners(): ReadonlyMap<string, string> {
  const again = listsChanged.value;
  const clusters = useData(at('GET /clusters'), { again });
  const releases = useData(at('GET /releases'), { again });
  const plugins = useData(at('GET /plugins'), { again });
  return new Map<string, string>([
    ...(clusters.data ?? []).map((one): [string, string] => [`cluster/${one.id}`, one.name]),
    ...(releases.data ?? []).map((one): [string, string] => [`release/${one.id}`, `${one.name} ${one.version}`]),
    ...(plugins.data ?? []).map((one): [string, string] => [
      `plugin/${one.id}`,
      `${one.title || one.name} ${one.version}`,
    ]),
  ]);
}

export const Owner = ({
  of,
  names,
}: {
  readonly of: Graph['relations'][number];
  readonly names: ReadonlyMap<string, string>;
}) => {
  const text = `${of.model} ${names.get(`${of.model}/${of.model_id}`) ?? of.model_id}`;
  return of.model === 'cluster' ? <a href={`/clusters/${of.model_id}`}>{text}</a> : text;
};
