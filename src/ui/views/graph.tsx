import { at } from '../kit/api.ts';
import { Search } from '../kit/ask.tsx';
import { fieldOf, textOf, textsOf } from '../kit/own-data.ts';
import { type Crumb, Fold, One } from '../kit/parts.tsx';
import { filterBy } from '../kit/router.ts';
import { useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { count } from '../kit/words.ts';
import { GraphPicture } from './graph-picture.tsx';
import { nameOf, Owner, useOwners } from './graphs.tsx';

const SMALL = 60;

const LIST: Crumb = ['/graphs', 'Graphs'];

/** One graph: drawn, and its tasks. */
export function GraphView({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const address = at('GET /graphs/:id', { params: { id } });
  const graph = useData(address);
  const owners = useOwners();
  const wanted = query.get('task') ?? '';
  return (
    <One
      of={`Graph ${id}`}
      list={LIST}
      from={graph}
      title={(data) => ({
        of: nameOf(data),
        actions: (
          <a class="button" href={address} download={`graph-${id}.json`}>
            Download
          </a>
        ),
      })}
    >
      {(data) => (
        <>
          <p class="facts">
            {data.relations.map((of) => (
              <>
                <Owner of={of} names={owners} />, type {of.type}
              </>
            ))}{' '}
            · {count(data.tasks.length, 'task')}
            {data.node_filter && (
              <>
                {' '}
                · for nodes where <code>{data.node_filter}</code>
              </>
            )}
          </p>
          <h2>Drawing</h2>
          <Fold label={`Draw ${count(data.tasks.length, 'task')}`} open={data.tasks.length <= SMALL}>
            {() => (
              <GraphPicture
                address={at('GET /graphs/:id/graph.svg', { params: { id } })}
                onChoose={(task) => filterBy({ task })}
              />
            )}
          </Fold>
          <h2>Tasks</h2>
          <div class="filters" role="search" aria-label="Filter tasks">
            <Search label="Task" value={wanted} onChange={(task) => filterBy({ task })} />
            {wanted && (
              <button type="button" onClick={() => filterBy({ task: '' })}>
                Show all
              </button>
            )}
          </div>
          <Table
            label="Tasks"
            rows={data.tasks.filter(({ id: name }) => name.includes(wanted)).slice(0, 500)}
            keyOf={(one) => one.id}
            empty="No tasks match."
            columns={[
              ['Task', (one) => one.id, 'name'],
              ['Type', (one) => textOf(one.type)],
              ['Roles and tags', (one) => [one.roles ?? one.role, one.tags].flatMap(textsOf).join(', ')],
              ['Requires', (one) => textsOf(one.requires).join(', ')],
              [
                'Between nodes',
                (one) => [one['cross-depends'] ?? one.cross_depends].flat().flatMap(dependencyText).join('; '),
              ],
              ['Condition', (one) => conditionOf(one.condition), 'wide'],
            ]}
          />
          <Fold label="As JSON">{() => <pre tabindex={0}>{JSON.stringify(data, null, 2)}</pre>}</Fold>
        </>
      )}
    </One>
  );
}

function dependencyText(dependency: unknown): string[] {
  const [name, roles] = [textOf(fieldOf(dependency, 'name')), textsOf(fieldOf(dependency, 'role'))];
  if (name === undefined) return [];
  return [`${name}${roles.length > 0 ? ` on ${roles.join(', ')}` : ''}`];
}

function conditionOf(condition: unknown): string {
  if (condition === undefined || condition === null) return '';
  return textOf(condition) ?? textOf(fieldOf(condition, 'yaql_exp')) ?? JSON.stringify(condition);
}
