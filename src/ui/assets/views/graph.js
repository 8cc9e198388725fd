import { useMemo } from 'preact/hooks';
import { html } from '../html.js';
import { Fold, Loaded, Table, Title } from '../parts.js';
import { useData } from '../store.js';
import { count } from '../words.js';
import { GraphPicture } from './graph-picture.js';
import { Owner, useOwners } from './graphs.js';

const SMALL = 60;

/** One graph: drawn, and its tasks. */
export function GraphView({ id }) {
  const path = `/api/v1/graphs/${id}`;
  const graph = useData(path);
  const owners = useOwners();
  const json = useMemo(() => (graph.data === undefined ? '' : JSON.stringify(graph.data, null, 2)), [graph.data]);
  return html`<${Title} of=${graph.data?.name || `Graph ${id}`} actions=${html`<a class="button" href=${path} download=${`graph-${id}.json`}>Download</a>`} />
    <${Loaded} from=${graph}>
      ${(data) => html`<p class="facts">
          ${data.relations.map((of) => html`<${Owner} of=${of} names=${owners} />, type ${of.type}`)} · ${count(data.tasks.length, 'task')}
          ${data.node_filter && html` · for nodes where <code>${data.node_filter}</code>`}
        </p>
        <h2>Drawing</h2>
        <${Fold} label=${count(data.tasks.length, 'task')} open=${data.tasks.length <= SMALL}>${() => html`<${GraphPicture} path=${`${path}/graph.svg`} />`}<//>
        <h2>Tasks</h2>
        <${Table}
          label="Tasks"
          rows=${data.tasks.slice(0, 500)}
          keyOf=${(one) => one.id}
          columns=${[
            ['Task', (one) => one.id],
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
