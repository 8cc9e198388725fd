import { type Answer, send } from '../kit/api.ts';
import { Action, type FormField, type Given, heldBefore, holdField, listed, optionsOf } from '../kit/ask.tsx';
import { commandOf, eachOption } from '../kit/command-text.ts';
import { fieldOf, textOf, textsOf } from '../kit/own-data.ts';
import { clusterRehearsal } from '../kit/rehearsed.ts';
import { go } from '../kit/router.ts';
import { GraphPlan } from './graph-plan.tsx';

interface RunGraphsProps {
  /** The cluster. */
  readonly id: number;
  readonly types: readonly string[];
  readonly type: string | undefined;
  readonly locked: boolean;
  readonly nodes: Answer<'GET /nodes'>;
  /** The input of an earlier run, or the request of a rehearsal, as defaults. */
  readonly given?: unknown;
  readonly label?: string;
  readonly verb?: string | undefined;
}

/** Runs a graph after asking for options. */
export function RunGraphs({ id, types, type = '', locked, nodes, given, label = 'Run a graph', verb }: RunGraphsProps) {
  const [before] = [fieldOf(given, 'graphs')].flat();
  const wantedBy = ({ texts, chosen }: Given) => {
    const wanted = chosen('nodes').map(Number);
    const graph = {
      type: texts.type ?? type,
      ...(texts.tasks !== undefined && { tasks: listed(texts.tasks) }),
      ...(wanted.length > 0 && { nodes: wanted }),
    };
    return {
      graphs: [graph] as const,
      ...(texts.mode !== undefined && { [texts.mode]: true }),
      ...(texts.force !== undefined && { force: true }),
      ...(texts.hold !== undefined && { hold_on_failure: true }),
      ...heldBefore(texts.hold_before),
    };
  };
  const start = async (filled: Given): Promise<void> => {
    const body = { cluster: id, ...wantedBy(filled), ...filled.note };
    const run = await send('POST /graphs/execute/', { body });
    go(`/runs/${run.run}`);
  };
  const mode = textOf(fieldOf(given, 'mode')) ?? ['dry_run', 'noop_run'].find((flag) => fieldOf(given, flag) === true);
  const fields: FormField[] = [
    {
      name: 'type',
      label: 'Graph',
      type: 'select',
      options: optionsOf(types),
      value: textOf(fieldOf(before, 'type')) ?? type,
    },
    {
      name: 'mode',
      label: 'How',
      type: 'select',
      options: [
        ['', 'run'],
        ['dry_run', 'dry run: plan only'],
        ['noop_run', 'noop run: tasks report what they would change'],
      ],
      value: mode === 'apply' ? '' : mode,
    },
    {
      name: 'tasks',
      label: 'Only these tasks',
      value: textsOf(fieldOf(before, 'tasks')).join(', '),
      placeholder: 'all, or comma-separated names',
    },
    {
      name: 'nodes',
      label: 'Only these nodes (default: all)',
      type: 'choices',
      options: nodes.map((one) => [String(one.id), one.name]),
      value: [fieldOf(before, 'nodes') ?? []].flat().map(String),
    },
    {
      name: 'hold',
      label: 'Hold on failure, so that failed tasks can be retried',
      type: 'checkbox',
      value: given === undefined || fieldOf(given, 'hold_on_failure') !== false,
    },
    holdField('tasks', textsOf(fieldOf(given, 'hold_before'))),
    {
      name: 'force',
      label: 'Treat everything as changed',
      type: 'checkbox',
      value: fieldOf(given, 'force') === true,
    },
  ];
  const why =
    (locked && 'A run is in progress on this cluster: wait for it, or control it on its page.') ||
    (types.length === 0 && 'No graphs yet: its release has none. Upload one.');
  const preview = ({ texts, chosen }: Given) => {
    const wanted = chosen('nodes').map(Number);
    return (
      <GraphPlan
        cluster={id}
        type={texts.type ?? type}
        nodes={nodes}
        only={wanted.length > 0 ? wanted : undefined}
        tasks={texts.tasks === undefined ? undefined : listed(texts.tasks)}
        force={texts.force !== undefined}
      />
    );
  };
  return (
    <Action
      label={label}
      verb={verb}
      fields={fields}
      preview={preview}
      rehearse={(filled) => clusterRehearsal(id, wantedBy(filled))}
      act={start}
      command={(filled) => {
        const { graphs, hold_on_failure, force, hold_before } = wantedBy(filled);
        const [{ type: graph, tasks = [], nodes: only = [] }] = graphs;
        const { mode } = filled.texts;
        return commandOf(
          [
            ...['graph', 'execute', '--cluster', id, '--type', graph],
            ...(only.length > 0 ? ['--node', ...only] : []),
            ...(tasks.length > 0 ? ['--tasks', ...tasks] : []),
            ...[mode === 'dry_run' && '--dry-run', mode === 'noop_run' && '--noop'],
            ...[
              force && '--force',
              hold_on_failure && '--hold-on-failure',
              ...eachOption('--hold-before', hold_before),
            ],
          ],
          filled,
        );
      }}
      disabled={why}
      done="The run has started."
    />
  );
}
