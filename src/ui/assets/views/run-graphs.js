import { post } from '../api.js';
import { Action, heldBefore, holdField, listed } from '../ask.js';
import { html } from '../html.js';
import { go } from '../router.js';

/**
 * Runs a graph after asking for options. `given`: the input of an earlier run, as defaults; `label` is the button's text.
 */
export function RunGraphs({ id, types, type, locked, nodes, given, label = 'Run a graph' }) {
  const [before] = given?.graphs ?? [];
  const start = async ({ type: graphType, tasks, nodes: chosen, mode, force, hold, hold_before: held, reason }) => {
    const graph = {
      type: graphType,
      ...(tasks ? { tasks: listed(tasks) } : {}),
      ...(chosen.length > 0 ? { nodes: chosen.map(Number) } : {}),
    };
    const run = await post('/api/v1/graphs/execute', {
      cluster: id,
      graphs: [graph],
      ...(mode ? { [mode]: true } : {}),
      ...(force ? { force: true } : {}),
      ...(hold ? { hold_on_failure: true } : {}),
      ...heldBefore(held),
      ...(reason ? { reason } : {}),
    });
    go(`/runs/${run.run}`);
  };
  const fields = [
    { name: 'type', label: 'Graph', options: types.map((one) => [one, one]), value: before?.type ?? type },
    {
      name: 'mode',
      label: 'How',
      options: [
        ['', 'run'],
        ['dry_run', 'dry run: plan only'],
        ['noop_run', 'noop run: tasks report what they would change'],
      ],
      value: given?.mode === 'apply' ? '' : (given?.mode ?? ''),
    },
    {
      name: 'tasks',
      label: 'Only these tasks',
      value: before?.tasks?.join(', ') ?? '',
      placeholder: 'all, or comma-separated names',
    },
    {
      name: 'nodes',
      label: 'Only these nodes (default: all)',
      type: 'choices',
      options: nodes.map((one) => [String(one.id), one.name]),
      value: (before?.nodes ?? []).map(String),
    },
    {
      name: 'hold',
      label: 'Hold on failure, so that failed tasks can be retried',
      type: 'checkbox',
      value: given?.hold_on_failure ?? true,
    },
    holdField('tasks', given?.hold_before),
    { name: 'force', label: 'Treat everything as changed', type: 'checkbox', value: given?.force ?? false },
  ];
  const why =
    (locked && 'A run is in progress on this cluster: wait for it, or control it on its page.') ||
    (types.length === 0 && 'No graphs yet: its release has none. Upload one.');
  return html`<${Action} label=${label} fields=${fields} act=${start} disabled=${why} done="The run has started." />`;
}
