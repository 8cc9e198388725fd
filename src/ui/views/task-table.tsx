import type { ComponentChildren } from 'preact';
import type { TaskOnNode } from '../../core/task-on-node.ts';
import { type Answer, at, send } from '../kit/api.ts';
import { Action, Choice, Filters, type Given, type Option, Search } from '../kit/ask.tsx';
import { commandOf } from '../kit/command-text.ts';
import type { Names } from '../kit/names.ts';
import { Loaded, Older, State } from '../kit/parts.tsx';
import { addressWith, fieldsOf, filterBy } from '../kit/router.ts';
import { useData } from '../kit/store.ts';
import { Chosen, Table, useSelection } from '../kit/table.tsx';
import { Lasting } from '../kit/times.tsx';
import { placeOf, said, some, TASK_STATUSES } from '../kit/words.ts';
import { logOf } from './log-tools.tsx';

type Task = Answer<'GET /runs/:run/tasks'>['items'][number];

interface TaskTableProps {
  /** The run. */
  readonly id: string;
  readonly graph: string;
  readonly query: URLSearchParams;
  readonly version: string;
  readonly live: boolean;
  readonly names: Names;
}

/** Tasks of a graph, failed ones first, in pages that the API cuts. The filters are in the address. */
export function TaskTable({ id, graph, query, version, live, names }: TaskTableProps) {
  const [node, status, name, before] = fieldsOf(query, ['node', 'status', 'task', 'before']);
  const nodes = node === '' ? '' : idsOf(node, names);
  const asked = { graph, nodes, statuses: status, name, before, limit: 50 };
  const tasks = useData(at('GET /runs/:run/tasks', { params: { run: id }, query: asked }), { again: version });
  const change = (field: string) => (value: string) => filterBy({ [field]: value, before: '' });
  const rows = tasks.data?.items ?? [];
  const isChoosable = (one: Task): boolean => live && one.status === 'failed';
  const selection = useSelection(rows, { keyOf, nameOf: (one) => placeOf(one, names), isChoosable });
  const toAll = (verb: Verb) => (given: Given) => selection.each((one) => act(id, one, verb, given));
  return (
    <>
      <Filters label="Filter tasks" of={['node', 'status', 'task']}>
        <Search label="Task" value={name} onChange={change('task')} />
        <Search label="Node" value={names[node] ?? node} placeholder="id or name" onChange={change('node')} />
        <Choice
          label="Status"
          value={status}
          options={[['', 'all'], ...TASK_STATUSES.map((one): Option => [one, said(one)])]}
          onChange={change('status')}
        />
      </Filters>
      <Chosen selection={selection} what="task">
        <Action
          label="Retry selected"
          explain="Runs these tasks again; then the tasks they blocked."
          preview={() => <p>{some(selection.names, 30)}</p>}
          act={toAll('retry')}
          done="Retrying the tasks."
        />
        <Action
          label="Skip selected"
          explain="Continues as if these tasks had nothing to do."
          preview={() => <p>{some(selection.names, 30)}</p>}
          act={toAll('skip')}
          done="Tasks skipped."
        />
      </Chosen>
      <Loaded from={tasks}>
        {({ items, next }) => (
          <>
            <Table
              label="Tasks"
              selection={items.some(isChoosable) ? selection : undefined}
              rows={items}
              keyOf={keyOf}
              empty="No tasks match."
              isPart={before !== '' || next !== null}
              columns={[
                ['Task', (one) => <LogLink of={one}>{one.task}</LogLink>, 'name', (one) => one.task],
                [
                  'Node',
                  (one) => (one.node === 'null' ? <span class="quiet">none</span> : (names[one.node] ?? one.node)),
                  'name',
                  (one) => names[one.node] ?? one.node,
                ],
                ['Status', (one) => <State of={one.status} />, undefined, (one) => one.status],
                ['Tries', (one) => one.attempts || '', 'number'],
                ['Took', (one) => <Lasting from={one.time_start} to={one.time_end} />, 'number'],
                [
                  'Message',
                  (one) => (
                    <>
                      {one.message ?? ''} {one.root_cause && <RootCause of={one.root_cause} names={names} />}
                    </>
                  ),
                  'wide',
                ],
                ['', (one) => live && <TaskActions id={id} task={one} names={names} />, 'actions'],
              ]}
            />
            <Older before={before} next={next} back="First" on="More" />
          </>
        )}
      </Loaded>
    </>
  );
}

const keyOf = ({ task, node }: TaskOnNode): string => JSON.stringify([task, node]);

type Verb = 'retry' | 'skip';

const act = (run: string, { task, node }: TaskOnNode, verb: Verb, { note }: Given) =>
  send(`POST /runs/:run/nodes/:node/tasks/:task/${verb}`, { params: { run, node, task }, body: note });

/** The node with that id or name; a part of a name may mean several. */
function idsOf(text: string, names: Names): string {
  if (names[text] !== undefined || text === 'master' || text === 'null') return text;
  const found = Object.entries(names).filter(([, name]) => name.toLowerCase().includes(text.toLowerCase()));
  return found.length === 0 ? text : found.map(([id]) => id).join(',');
}

const LogLink = ({ of, children }: { readonly of: TaskOnNode; readonly children: ComponentChildren }) => (
  <a href={addressWith(logOf(of))} data-stay data-log={of.task} data-log-node={of.node}>
    {children}
  </a>
);

interface RootCauseProps {
  readonly of: NonNullable<Task['root_cause']>;
  readonly names: Names;
}

function RootCause({ of: { task, node }, names }: RootCauseProps) {
  const name = names[node] ?? node;
  return task === null ? (
    <span class="quiet">blocked by node {name}, which is offline</span>
  ) : (
    <span class="quiet">
      blocked by <LogLink of={{ task, node }}>{task}</LogLink> on {name}
    </span>
  );
}

interface TaskActionsProps {
  readonly id: string;
  readonly task: Task;
  readonly names: Names;
}

function TaskActions({ id, task, names }: TaskActionsProps) {
  const text = placeOf(task, names);
  const to = (verb: Verb) => (given: Given) => act(id, task, verb, given);
  const command = (verb: string) => (given: Given) =>
    commandOf(['run', verb, id, `${task.task}@${names[task.node] ?? task.node}`], given);
  const failed = task.status === 'failed';
  if (!failed && task.status !== 'waiting') return null;
  return (
    <>
      {failed && (
        <Action
          label="Retry"
          title={`Retry ${text}`}
          explain="Runs the task again, and then the tasks it blocked."
          act={to('retry')}
          command={command('retry-task')}
          done={`Retrying ${text}.`}
        />
      )}
      <Action
        label="Skip"
        title={`Skip ${text}`}
        explain="Continues as if the task had nothing to do: immediately if it failed, otherwise when its turn comes. Later tasks run without it."
        act={to('skip')}
        command={command('skip-task')}
        done={`${text} skipped.`}
      />
    </>
  );
}
