import { stateWord } from '../../core/state-word.ts';
import { causeText } from '../../core/task-on-node.ts';
import { withoutSecretValues } from '../../core/text/secrets.ts';
import { TASK_STATUSES, TRANSACTION_STATUSES } from '../../core/words.ts';
import type { Answer } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { nameListArgument, transactionArgument } from '../shell/id-argument.ts';
import { type NodeNames, nodeNamesOf, withNodeNames } from '../shell/node-names.ts';
import { type OutputFlags, printList, printOne, yamlText } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import { save } from './cluster-data.ts';

const ID = 'id of the transaction of a run, or of one of its graphs';

/** `sitewright history …`: results of graph runs, task by task. */
export function registerHistory(program: CliCommand, session: Session): void {
  const group = program.verb('history', 'Runs of graphs, and the result of each task on each node');
  registerViews(group, session);
  registerDataOfRuns(group, session);
  registerDelete(group, session);
}

const about = (group: CliCommand, name: string, text: string): CliCommand =>
  group.verb(name, text).argument('<transaction>', ID, transactionArgument);

function registerViews(group: CliCommand, session: Session): void {
  group
    .verb('list', 'Transactions, newest first: a run, and below it one for each graph')
    .example('--cluster lab --status failed')
    .ofCluster('only of this cluster')
    .names('--status <statuses...>', '--statuses <statuses...>', TRANSACTION_STATUSES.join(', '))
    .names('--name <names...>', '--names <names...>', 'deploy, deployment …')
    .calls<'GET /history', ListFlags>(session, 'GET /history', {
      ask: ({ flags: { cluster, status, name } }) => ({
        query: { cluster_id: cluster, statuses: status?.join(','), transaction_types: name?.join(',') },
      }),
      columns: ['id', 'status', 'name', 'graph_type', 'cluster', 'dry_run', 'progress', 'message'],
      rows: (found, { flags }) =>
        flags.format === 'table' ? found.map((row) => ({ ...row, status: stateWord(row.status) })) : found,
    });

  about(group, 'show', 'Every task of a run on every node, with its times and result')
    .example('12 --node node-1 --status failed')
    .nodes('only on these nodes', 'optional', nameListArgument)
    .names('--status <statuses...>', '--statuses <statuses...>', TASK_STATUSES.join(', '))
    .option('-T, --tasks <names...>', 'only these tasks', nameListArgument)
    .option('--parameters', 'with the parameters of each task')
    .option('--summary', 'with the counts of the task’s runner')
    .output()
    .action(async (id: string, { node: nodes, status: statuses, tasks, parameters, summary, ...flags }: ShowFlags) => {
      const query = {
        nodes: nodes?.join(','),
        statuses: statuses?.join(','),
        tasks_names: tasks?.join(','),
        include_summary: summary ? 1 : undefined,
      };
      const rows = await session.call('GET /transactions/:id/tasks', { params: { id }, query });
      const isForPeople = flags.format === 'table';
      const names = isForPeople ? await nodeNamesOf(await session.client(), id) : {};
      const safe = rows.map((row) => withoutSecretValues(row) as typeof row);
      const shown = isForPeople ? safe.map((row) => inWords(row, names)) : safe;
      const columns = [
        'task_name',
        isForPeople ? 'node' : 'node_id',
        'status',
        'time_start',
        'time_end',
        'root_cause',
        'message',
      ];
      if (summary) columns.push('summary');
      if (parameters) columns.push('parameters');
      await printList(session.terminal, flags, shown, columns);
    });
}

function registerDataOfRuns(group: CliCommand, session: Session): void {
  const { terminal } = session;
  for (const [name, path, what] of [
    ['deployment-info', 'deployment_info', 'the data for the tasks'],
    ['settings', 'settings', 'the settings of the cluster at that time'],
    ['network', 'network_configuration', 'the network configuration of the cluster at that time'],
  ] as const) {
    about(group, name, `Print or save ${what}`)
      .example(`12 --file ${name}.yaml`)
      .option('--file <file>', 'save it as YAML')
      .output()
      .action(async (id: string, { file, ...flags }: OutputFlags & { readonly file?: string }) => {
        const data = await session.call(`GET /transactions/:id/${path}`, { params: { id } });
        if (file === undefined) {
          const shown = withoutSecretValues(data) as typeof data;
          return printOne(terminal, flags, shown, await yamlText(shown));
        }
        await save(session, file, await yamlText(data));
        terminal.out(`saved ${name} of ${id} to ${file}\n`);
      });
  }
}

function registerDelete(group: CliCommand, session: Session): void {
  about(group, 'delete', 'Permanently delete an ended run with its history')
    .example('12')
    .option('--force', 'even if it has not ended')
    .calls<'DELETE /transactions/:id', { readonly force?: boolean }>(session, 'DELETE /transactions/:id', {
      ask: ({ args: [id = ''], flags: { force } }) => ({ params: { id }, query: { force: force ? 1 : undefined } }),
      question: { need: 'required', text: ({ args: [id] }) => `Permanently delete run ${id} with its history?` },
      record: (_gone, { args: [id] }) => ({ id: Number(id) }),
      text: (_gone, { args: [id] }) => `deleted ${id}\n`,
    });
}

interface ListFlags extends OutputFlags {
  readonly cluster?: string;
  readonly status?: readonly string[];
  readonly name?: readonly string[];
}

interface ShowFlags extends OutputFlags {
  readonly node?: readonly string[];
  readonly status?: readonly string[];
  readonly tasks?: readonly string[];
  readonly parameters?: boolean;
  readonly summary?: boolean;
}

const inWords = ({ root_cause, ...row }: Answer<'GET /transactions/:id/tasks'>[number], names: NodeNames) => ({
  ...row,
  node: names[row.node_id] ?? row.node_id,
  status: stateWord(row.status),
  ...(root_cause === undefined ? {} : { root_cause: causeText(withNodeNames(root_cause, names)) }),
});
