import { useMemo } from 'preact/hooks';
import { Search } from '../ask.js';
import { html } from '../html.js';
import { Fold, Loaded, Missing, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { useData } from '../store.js';
import { Table } from '../table.js';
import { count } from '../words.js';
import { GraphPicture } from './graph-picture.js';
import { nameOf, Owner, useOwners } from './graphs.js';

const SMALL = 60;

const LIST = ['/graphs', 'Graphs'];

/** One graph: drawn, and its tasks. */
export function GraphView({ id, query }) {
  const path = `/api/v1/graphs/${id}`;
  const graph = useData(path);
  const owners = useOwners();
  const json = useMemo(() => (graph.data === undefined ? '' : JSON.stringify(graph.data, null, 2)), [graph.data]);
  const wanted = query.get('task') ?? '';
  if (graph.data === undefined && graph.problem !== undefined)
    return html`<${Missing} of=${`Graph ${id}`} problem=${graph.problem} list=${LIST} onRetry=${graph.reload} />`;
  return html`<${Title} of=${graph.data ? nameOf(graph.data) : `Graph ${id}`} trail=${[LIST]} actions=${html`<a class="button" href=${path} download=${`graph-${id}.json`}>Download</a>`} />
    <${Loaded} from=${graph}>
      ${(data) => html`<p class="facts">
          ${data.relations.map((of) => html`<${Owner} of=${of} names=${owners} />, type ${of.type}`)} · ${count(data.tasks.length, 'task')}
          ${data.node_filter && html` · for nodes where <code>${data.node_filter}</code>`}
        </p>
        <h2>Drawing</h2>
        <${Fold} label=${`Draw ${count(data.tasks.length, 'task')}`} open=${data.tasks.length <= SMALL}>${() => html`<${GraphPicture} path=${`${path}/graph.svg`} onChoose=${(task) => filterBy({ task })} />`}<//>
        <h2>Tasks</h2>
        <div class="filters" role="search" aria-label="Filter tasks">
          <${Search} label="Task" value=${wanted} onChange=${(task) => filterBy({ task })} />
          ${wanted && html`<button type="button" onClick=${() => filterBy({ task: '' })}>Show all</button>`}
        </div>
        <${Table}
          label="Tasks"
          rows=${data.tasks.filter(({ id: name }) => name.includes(wanted)).slice(0, 500)}
          keyOf=${(one) => one.id}
          empty="No tasks match."
          columns=${[
            ['Task', (one) => one.id, 'name'],
            ['Type', (one) => one.type],
            ['Roles and tags', (one) => [one.roles ?? one.role, one.tags].flat().filter(Boolean).join(', ')],
            ['Requires', (one) => [one.requires].flat().filter(Boolean).join(', ')],
            [
              'Between nodes',
              (one) =>
                [one['cross-depends'] ?? one.cross_depends]
                  .flat()
                  .filter(Boolean)
                  .map((of) => `${of.name}${of.role ? ` on ${[of.role].flat().join(', ')}` : ''}`)
                  .join('; '),
            ],
            ['Condition', (one) => conditionOf(one.condition), 'wide'],
          ]}
        />
        <${Fold} label="As JSON">${() => html`<pre tabindex="0">${json}</pre>`}<//>`}
    <//>`;
}

const conditionOf = (condition) =>
  condition === undefined || condition === null
    ? ''
    : typeof condition === 'object'
      ? (condition.yaql_exp ?? JSON.stringify(condition))
      : String(condition);
