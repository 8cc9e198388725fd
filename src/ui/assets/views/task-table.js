import { post, query as queryOf } from '../api.js';
import { Action, Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { Loaded, Older, State } from '../parts.js';
import { addressWith, filterBy } from '../router.js';
import { useData } from '../store.js';
import { Chosen, forEach, Table, useSelection } from '../table.js';
import { Lasting } from '../times.js';
import { placeOf, said, TASK_STATUSES } from '../words.js';
import { logOf } from './task-log-address.js';

/** Tasks of a graph, failed ones first, in pages that the API cuts. The filters are in the address. */
export function TaskTable({ base, graph, query, version, live, names }) {
  const [node, status, name, before] = ['node', 'status', 'task', 'before'].map((key) => query.get(key) ?? '');
  const nodes = node === '' ? '' : idsOf(node, names);
  const path = `${base}/tasks${queryOf({ graph, nodes, statuses: status, name, before, limit: 50 })}`;
  const tasks = useData(path, { again: version });
  const change = (field) => (value) => filterBy({ [field]: value, before: '' });
  const none = { node: '', status: '', task: '', before: '' };
  const rows = tasks.data?.items ?? [];
  const isChoosable = (one) => live && one.status === 'failed';
  const selection = useSelection(rows, { keyOf, nameOf: (one) => placeOf(one, names), isChoosable });
  const toAll = (verb) => async (given) => {
    await forEach(selection.rows, selection.nameOf, (one) => post(actionOn(base, one, verb), given));
    selection.clear();
  };
  return html`<form class="filters" role="search" aria-label="Filter tasks" onSubmit=${(event) => event.preventDefault()}>
      <${Search} label="Task" value=${name} onChange=${change('task')} />
      <${Search} label="Node" value=${names[node] ?? node} placeholder="id or name" onChange=${change('node')} />
      <${Choice} label="Status" value=${status} options=${[['', 'all'], ...TASK_STATUSES.map((one) => [one, said(one)])]} onChange=${change('status')} />
      ${(node || status || name) && html`<button type="button" onClick=${() => filterBy(none)}>Show all</button>`}
    </form>
    <${Chosen} selection=${selection} what=${selection.rows.length === 1 ? 'task' : 'tasks'}>
      <${Action} label="Retry selected" explain="Runs these tasks again; then the tasks they blocked." act=${toAll('retry')} done="Retrying the tasks." />
      <${Action} label="Skip selected" explain="Continues as if these tasks had nothing to do." act=${toAll('skip')} done="Tasks skipped." />
    <//>
    <${Loaded} from=${tasks}>
      ${({ items, next }) =>
        html`<${Table}
            label="Tasks"
            selection=${items.some(isChoosable) ? selection : undefined}
            rows=${items}
            keyOf=${keyOf}
            empty="No tasks match."
            columns=${[
              ['Task', (one) => html`<${LogLink} of=${one}>${one.task}<//>`, 'name'],
              [
                'Node',
                (one) => (one.node === 'null' ? html`<span class="quiet">none</span>` : (names[one.node] ?? one.node)),
                'name',
              ],
              ['Status', (one) => html`<${State} of=${one.status} />`],
              ['Tries', (one) => one.attempts || '', 'number'],
              ['Took', (one) => html`<${Lasting} from=${one.time_start} to=${one.time_end} />`, 'number'],
              [
                'Message',
                (one) =>
                  html`${one.message ?? ''} ${one.root_cause && html`<${RootCause} of=${one.root_cause} names=${names} />`}`,
                'wide',
              ],
              ['', (one) => live && html`<${TaskActions} base=${base} task=${one} names=${names} />`, 'actions'],
            ]}
          />
          <${Older} before=${before} next=${next} back="First" on="More" />`}
    <//>`;
}

const keyOf = ({ task, node }) => JSON.stringify([task, node]);

const actionOn = (base, { task, node }, verb) =>
  `${base}/nodes/${encodeURIComponent(node)}/tasks/${encodeURIComponent(task)}/${verb}`;

/** The node with that id or name; a part of a name may mean several. */
function idsOf(text, names) {
  if (names[text] !== undefined || text === 'master' || text === 'null') return text;
  const found = Object.keys(names).filter((id) => names[id].toLowerCase().includes(text.toLowerCase()));
  return found.length === 0 ? text : found.join(',');
}

const LogLink = ({ of, children }) =>
  html`<a href=${addressWith(logOf(of))} data-stay data-log=${of.task} data-log-node=${of.node}>${children}</a>`;

function RootCause({ of, names }) {
  const { task, node } = of;
  const name = names[node] ?? node;
  return task === null
    ? html`<span class="quiet">blocked by node ${name}, which is offline</span>`
    : html`<span class="quiet">blocked by <${LogLink} of=${of}>${task}<//> on ${name}</span>`;
}

function TaskActions({ base, task, names }) {
  const text = placeOf(task, names);
  const to = (verb) => (given) => post(actionOn(base, task, verb), given);
  const failed = task.status === 'failed';
  if (!failed && task.status !== 'waiting') return null;
  return html`${
    failed &&
    html`<${Action} label="Retry" title=${`Retry ${text}`} explain="Runs the task again, and then the tasks it blocked." act=${to('retry')} done=${`Retrying ${text}.`} />`
  }
    <${Action}
      label="Skip"
      title=${`Skip ${text}`}
      explain="Continues as if the task had nothing to do: immediately if it failed, otherwise when its turn comes. Later tasks run without it."
      act=${to('skip')}
      done=${`${text} skipped.`}
    />`;
}
