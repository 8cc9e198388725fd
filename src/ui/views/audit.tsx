import { type Answer, at } from '../kit/api.ts';
import { Filters, Search } from '../kit/ask.tsx';
import { Empty, Title } from '../kit/parts.tsx';
import { fieldsOf, filterBy } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { Listed } from '../kit/table.tsx';
import { Ago } from '../kit/times.tsx';

/** Pages of the targets of audit entries. */
const PAGES: Readonly<Record<string, string>> = {
  run: 'runs',
  site: 'sites',
  cluster: 'clusters',
  node: 'nodes',
  package: 'packages',
  graph: 'graphs',
};

type Entry = Answer<'GET /audit'>['items'][number];

/** The audit trail. Its filters are in the address. */
export function AuditView({ query }: { readonly query: URLSearchParams }) {
  const [actor, action, target, before] = fieldsOf(query, ['actor', 'action', 'target', 'before']);
  const entries = useData(at('GET /audit', { query: { actor, action, target, before, limit: 100 } }), {
    again: before === '' ? listsChanged.value : undefined,
  });
  const choose = (field: string) => (value: string) => filterBy({ [field]: value, before: '' });
  const isFiltered = actor !== '' || action !== '' || target !== '';
  return (
    <>
      <Title of="Audit" />
      <Filters label="Filter the audit" of={['actor', 'action', 'target']}>
        <Search label="Actor" value={actor} onChange={choose('actor')} />
        <Search label="Action" value={action} placeholder="run.pause" onChange={choose('action')} />
        <Search label="Target" value={target} placeholder="site/dc1" onChange={choose('target')} />
      </Filters>
      <Listed
        from={entries}
        label="Audit"
        keyOf={(one) => one.id}
        before={before}
        empty={isFiltered ? 'No entries match. Filters match whole names only.' : <Empty title="No entries yet." />}
        columns={[
          ['At', (one) => <Ago of={one.at} />, 'number'],
          ['Actor', (one) => one.actor],
          ['Action', (one) => one.action],
          ['Target', (one) => <Target of={one} />, 'wide'],
          ['Why', (one) => one.reason ?? '', 'wide'],
        ]}
      />
    </>
  );
}

function Target({ of: { target, target_kind: kind, target_id: id } }: { readonly of: Entry }) {
  const page = PAGES[kind];
  return page === undefined ? target : <a href={`/${page}/${encodeURIComponent(id)}`}>{target}</a>;
}
