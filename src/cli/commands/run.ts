import type { Run } from '../../core/contracts/run.ts';
import { given } from '../../core/data/given.ts';
import { numberOf } from '../../core/run/subject.ts';
import { stateWord } from '../../core/state-word.ts';
import { RUN_KINDS, RUN_OUTCOMES } from '../../core/words.ts';
import type { Typed } from '../calling.ts';
import type { OperatorNote } from '../client.ts';
import type { CliCommand } from '../command.ts';
import { confirmDecision } from '../decide-run.ts';
import { findRun } from '../find-run.ts';
import { findTask } from '../find-task.ts';
import { type OutputFlags, printList, printOne } from '../formats/output.ts';
import { wholeNumber } from '../id-argument.ts';
import { nodeNamesOf, withNodeNames } from '../node-names.ts';
import { type Session, userOf } from '../session.ts';
import type { FollowFlags } from '../started-run.ts';
import { forTypedSystem } from '../typed-system.ts';
import { formatSpan } from '../views/duration.ts';
import { sayWhichIsEmpty } from '../which-system.ts';
import { registerRunAgain } from './run-again.ts';
import { registerRunLogs } from './run-logs.ts';

const RUN = 'number of the run, its id or a unique prefix, a workflow id, a transaction, or a site for its newest run';

interface ListFlags extends OutputFlags {
  readonly site?: string;
  readonly cluster?: string;
  readonly kind?: readonly string[];
  readonly phase?: readonly string[];
  readonly outcome?: readonly string[];
  readonly label?: readonly string[];
  readonly by?: string;
  readonly since?: string;
  readonly until?: string;
  readonly open?: boolean;
  readonly limit?: number;
}

/** State of a run, in one word; its phase, unless it is over, paused or waits for approval. */
const stateOfRun = ({ outcome, paused, awaiting_approval, phase }: Run): string =>
  stateWord(outcome ?? (paused ? 'paused' : awaiting_approval ? 'awaiting_approval' : phase));

/** Beginnings of ids, which name their runs as the whole ids do. The first 13 characters are the time of its start. */
function shortIds(ids: readonly string[]): string[] {
  return ids.map((id) => {
    let length = 13;
    while (ids.some((other) => other !== id && other.startsWith(id.slice(0, length)))) length++;
    return id.slice(0, length);
  });
}

interface ActFlags extends FollowFlags {
  readonly reason?: string;
}

interface RolloutFlags extends ActFlags {
  readonly group?: string;
  readonly limit?: number;
  readonly yes?: boolean;
}

/** `sitewright run …`: view and control runs. */
export function registerRun(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const ofRun = async ({ args: [reference = ''] }: Typed) => ({
    params: { run: (await findRun(await session.client(), reference)).id },
  });
  const group = program.verb('run', 'Runs: view, pause, resume, approve, stop, retry');

  group
    .verb('list', 'Runs, newest first')
    .example('--open', 'what runs now')
    .example('--site dc1 --outcome failed --limit 5')
    .example('--cluster lab')
    .option('--site <site>', 'only on this site')
    .ofCluster('only runs of graphs on this cluster')
    .repeatable('--kind <kind>', 'only runs of this kind', RUN_KINDS)
    .repeatable('--phase <phase>', 'only runs in this phase')
    .repeatable('--outcome <outcome>', 'only runs with this outcome', RUN_OUTCOMES)
    .labels('only runs with this label; with several, only runs with all of them')
    .option('--by <name>', 'only runs that this user or token started')
    .option('--since <time>', 'only runs started at this time or later, ISO 8601')
    .option('--until <time>', 'only runs started before this time, ISO 8601')
    .option('--open', 'only running runs')
    .limit()
    .output()
    .action(async ({ format, column, open, by, ...filter }: ListFlags) => {
      const client = await session.client();
      const { items } = await client.runs.list({ ...filter, started_by: by, ...(open ? { open } : {}) });
      const flags = { format, ...(column ? { column } : {}) };
      if (items.length === 0) await sayWhichIsEmpty(session, flags);
      const short = format === 'table' && column === undefined && terminal.columns !== undefined;
      const ids = short ? shortIds(items.map(({ id }) => id)) : undefined;
      const runs = items.map((run, at) => ({
        ...{ ...run, id: ids?.[at] ?? run.id, state: stateOfRun(run) },
        took: formatSpan(run.started_at, run.ended_at ?? new Date(terminal.now()).toISOString()),
      }));
      const columns = [
        'number',
        'id',
        'workflow_id',
        'kind',
        'site',
        'state',
        'started_at',
        'took',
        'failed_nodes',
        'title',
        'started_by',
        'revision',
      ];
      await printList(terminal, flags, runs, columns);
    });

  group
    .verb('show', 'One run; with --watch, until it ends')
    .example('12')
    .argument('<run>', RUN)
    .option('--watch', 'follow it, with a line for each change')
    .output()
    .action(async (reference: string, flags: FollowFlags) => {
      const client = await session.client();
      const run = await findRun(client, reference);
      if (flags.watch) return follow(session, client, run, flags);
      const { pageOf } = await import('../started-run.ts');
      await printOne(terminal, flags, { ...(await client.runs.get(run.id)), page: pageOf(client, run) });
    });

  group
    .verb('status', 'Progress of a run: phase, nodes, failures')
    .example('dc1')
    .argument('<run>', RUN)
    .output()
    .action(async (reference: string, flags: OutputFlags) => {
      const client = await session.client();
      const { id } = await findRun(client, reference);
      const status = await client.runs.status(id);
      const names = 'graphs' in status && flags.format === 'table' ? await nodeNamesOf(client, id) : {};
      const [{ statusText }, { graphStatusText }, { isGraphRun }] = await Promise.all([
        import('../views/status.ts'),
        import('../views/graph-status.ts'),
        import('../watch.ts'),
      ]);
      const text = (color: boolean) =>
        forTypedSystem(
          terminal,
          isGraphRun(status)
            ? graphStatusText(withNodeNames(status, names), color, terminal.now())
            : statusText(status, color, terminal.now()),
        );
      await printOne(terminal, flags, status, text);
    });

  group
    .verb('report', 'Report of a run: every group and node, with reasons')
    .example('12')
    .argument('<run>', RUN)
    .output()
    .action(async (reference: string, flags: OutputFlags) => {
      const client = await session.client();
      const run = await findRun(client, reference);
      const report = await client.runs.report(run.id);
      const names = 'graphs' in report && flags.format === 'table' ? await nodeNamesOf(client, run.id) : {};
      const [{ reportText }, { graphReportText }] = await Promise.all([
        import('../views/report.ts'),
        import('../views/graph-report.ts'),
      ]);
      const text = (color: boolean) =>
        forTypedSystem(
          terminal,
          'graphs' in report
            ? graphReportText(withNodeNames(report, names), color)
            : reportText(report, color, numberOf(run)),
        );
      await printOne(terminal, flags, report, text);
    });

  group
    .verb('tree', 'Every step and node of a run, as a tree')
    .example('12')
    .argument('<run>', RUN)
    .calls(session, 'GET /runs/:run/tree', {
      ask: ofRun,
      async text(tree) {
        const { treeText } = await import('../views/tree.ts');
        return (color) => treeText(tree, color);
      },
    });

  group
    .verb('nodes', 'The nodes of a run and their state')
    .example('dc1 -f json')
    .argument('<run>', RUN)
    .calls(session, 'GET /runs/:run/nodes', {
      ask: ofRun,
      columns: ['name', 'state', 'group', 'running', 'failed_in', 'attempts', 'system_id', 'reason'],
    });

  group
    .verb('watch', 'Follow a run until it ends; the exit code is its outcome')
    .example('dc1')
    .argument('<run>', RUN)
    .output()
    .action(async (reference: string, flags: OutputFlags) => {
      const client = await session.client();
      return follow(session, client, await findRun(client, reference), { ...flags, watch: true });
    });

  registerRunLogs(group, session);
  registerRunAgain(group, session, RUN);

  const acts = [
    ['pause', 'Start nothing new; running work finishes', 'paused', 'resume', 'dc1 --reason "wait for the switch"'],
    ['resume', 'Continue after a pause', 'resumed', 'watch', 'dc1 --watch'],
    ['stop', 'End gracefully: running work finishes, then the report', 'will stop', 'watch', 'dc1 --wait'],
    ['cancel', 'Abort running work, as far as MAAS can', 'will be cancelled', 'watch', '12 --reason "wrong revision"'],
  ] as const;
  for (const [action, description, done, next, example] of acts) {
    const command = group.verb(action, description).example(example).argument('<run>', RUN).reason().follows();
    if (action === 'stop' || action === 'cancel') command.asks();
    command.action(async (reference: string, flags: ActFlags & { readonly yes?: boolean }) => {
      const client = await session.client();
      const run = await findRun(client, reference);
      const asks = action === 'stop' || action === 'cancel';
      await confirmDecision(terminal, client, run, { verb: action, yes: flags.yes, asks });
      const answer = await client.runs.act(run.id, action, noteOf(session, flags));
      const { wait, watch } = flags;
      const record = typeof answer === 'object' && answer !== null ? answer : { id: run.id, action };
      if (!(wait || watch))
        return printOne(
          terminal,
          flags,
          record,
          forTypedSystem(terminal, `run ${numberOf(run)} ${done}\n  next:  sitewright run ${next} ${reference}\n`),
        );
      return follow(session, client, run, flags);
    });
  }

  for (const [verb, description, done] of [
    ['approve', 'Let a run go on where it waits for approval (--hold-before)', 'approved'],
    ['reject', 'End a run where it waits for approval, as stop does', 'rejected; it will stop'],
  ] as const) {
    group
      .verb(verb, description)
      .example('dc1')
      .example('dc1 --before control', 'only there')
      .argument('<run>', RUN)
      .option('--before <name>', 'only before this group or task (default: everywhere the run waits now)')
      .reason()
      .follows()
      .asks()
      .action(async (reference: string, flags: ActFlags & { readonly before?: string; readonly yes?: boolean }) => {
        const client = await session.client();
        const run = await findRun(client, reference);
        const { before, wait, watch, yes } = flags;
        await confirmDecision(terminal, client, run, { verb, before, yes, asks: true });
        const note = { ...noteOf(session, flags), ...given({ before }) };
        const status = await client.runs.decide(run.id, verb, note);
        if (wait || watch) return follow(session, client, run, flags);
        await printOne(
          terminal,
          flags,
          status,
          forTypedSystem(terminal, `run ${numberOf(run)} ${done}\n  next:  sitewright run watch ${reference}\n`),
        );
      });
  }

  for (const [verb, description, done] of [
    ['promote', 'Let a rollout go on: the rest of its wave, or the next one', 'goes on'],
    ['hold', 'Hold a rollout: its open wave ends, and no other opens', 'is held after its open wave'],
    ['abort-rollout', 'End a rollout: what has started finishes, and its group fails', 'ends'],
  ] as const) {
    const command = group
      .verb(verb, description)
      .example('dc1')
      .argument('<run>', RUN)
      .option('--group <name>', 'only that of this group (default: each for which it has an effect)');
    if (verb === 'promote')
      command
        .example('dc1 --group workers --limit 5', 'from now on five failed nodes stop it')
        .option('--limit <number>', 'so many failed nodes stop it from now on (default: one more)', wholeNumber);
    if (verb === 'abort-rollout') command.asks();
    command
      .reason()
      .follows()
      .action(async (reference: string, flags: RolloutFlags) => {
        const client = await session.client();
        const run = await findRun(client, reference);
        const { group: name, limit, wait, watch, yes } = flags;
        const of = name === undefined ? '' : ` of group ${name}`;
        await confirmDecision(terminal, client, run, { verb, group: name, yes, asks: verb === 'abort-rollout' });
        const status = await client.runs.rollout(run.id, verb, {
          ...noteOf(session, flags),
          ...given({ group: name, limit }),
        });
        if (wait || watch) return follow(session, client, run, flags);
        await printOne(
          terminal,
          flags,
          status,
          forTypedSystem(
            terminal,
            `the rollout${of} in run ${numberOf(run)} ${done}\n  next:  sitewright run watch ${reference}\n`,
          ),
        );
      });
  }

  group
    .verb('retry', 'Retry a failed node of a run')
    .example('dc1 node-1 --reason "PSU replaced"')
    .argument('<run>', RUN)
    .argument('<node>', 'name of the node')
    .reason()
    .output()
    .action(async (reference: string, node: string, flags: ActFlags) => {
      const client = await session.client();
      const run = await findRun(client, reference);
      const status = await client.runs.retry(run.id, node, noteOf(session, flags));
      await printOne(terminal, flags, status, `node ${node} of run ${numberOf(run)} will be retried\n`);
    });

  for (const [verb, description, done] of [
    ['retry', 'Retry a failed task of a run of graphs, and the tasks lost with it', 'will be retried'],
    ['skip', 'Continue a run of graphs without a task: ignore its failure, or skip it', 'will be skipped'],
  ] as const) {
    group
      .verb(`${verb}-task`, description)
      .example('12 netconfig@node-1')
      .argument('<run>', RUN)
      .argument('<task>', 'the task and its node, as TASK@NODE')
      .reason()
      .output()
      .action(async (reference: string, task: string, flags: ActFlags) => {
        const client = await session.client();
        const run = await findRun(client, reference);
        const status = await client.runs.task(
          run.id,
          await findTask(client, async () => run, task),
          verb,
          noteOf(session, flags),
        );
        await printOne(terminal, flags, status, `task ${task} of run ${numberOf(run)} ${done}\n`);
      });
  }
}

async function follow(
  session: Session,
  client: Awaited<ReturnType<Session['client']>>,
  run: Pick<Run, 'id' | 'number' | 'site'>,
  flags: FollowFlags,
): Promise<void> {
  const { followAndPresent } = await import('../started-run.ts');
  process.exitCode = await followAndPresent(session.terminal, client, run, flags);
}

function noteOf(session: Session, { reason }: ActFlags): OperatorNote {
  const by = userOf(session.terminal);
  return given({ reason, by });
}
