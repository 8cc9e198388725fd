import type { Run } from '../../core/contracts/runs.ts';
import { given } from '../../core/data/given.ts';
import { numberOf } from '../../core/run/subject.ts';
import type { RunDecision } from '../../core/run-work.ts';
import { stateWord } from '../../core/state-word.ts';
import { RUN_KINDS, RUN_OUTCOMES } from '../../core/words.ts';
import type { Asked, Typed } from '../shell/calling.ts';
import type { OperatorNote } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { wholeNumber } from '../shell/id-argument.ts';
import { nodeNamesOf, withNodeNames } from '../shell/node-names.ts';
import { type OutputFlags, printList, printOne } from '../shell/output.ts';
import { type Session, userOf } from '../shell/session.ts';
import { forTypedSystem } from '../shell/typed-system.ts';
import { sayWhichIsEmpty } from '../shell/which-system.ts';
import { formatSpan } from '../views/duration.ts';
import { confirmDecision } from './decide-run.ts';
import { findRun } from './find-run.ts';
import { findTask } from './find-task.ts';
import { registerRunAgain } from './run-again.ts';
import { registerRunLogs } from './run-logs.ts';
import type { FollowFlags } from './started-run.ts';

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
  readonly yes?: boolean;
  readonly before?: string;
  readonly group?: string;
  readonly limit?: number;
  readonly recheck?: boolean;
}

/** A command that has an effect on an open run, and may follow it. */
interface Act {
  readonly does: string;
  readonly examples: readonly (readonly [args: string, what?: string])[];
  /** What the run, or its rollout, then does. */
  readonly done: string;
  readonly isOfRollout?: true;
  /** The command to go on with; default: `watch`. */
  readonly next?: string;
  /** Whether people are asked. */
  readonly asks?: true;
}

/** `sitewright run …`: view and control runs. */
export function registerRun(program: CliCommand, session: Session): void {
  const group = program.verb('run', 'Runs: view, pause, resume, approve, stop, retry');
  registerList(group, session);
  registerViews(group, session);
  registerParts(group, session);
  registerRunLogs(group, session);
  registerRunAgain(group, session, RUN);
  for (const [verb, act] of Object.entries(ACTS)) registerAct(group, session, verb as keyof typeof ACTS, act);
  registerRetries(group, session);
}

function registerList(group: CliCommand, session: Session): void {
  const { terminal } = session;
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
}

const runOf =
  (session: Session) =>
  async ({ args: [reference = ''] }: Typed) => ({
    params: { run: (await findRun(await session.client(), reference)).id },
  });

/** One run, in several forms. */
function registerViews(group: CliCommand, session: Session): void {
  const { terminal } = session;
  const ofRun = runOf(session);
  /** People read names where programs read ids. */
  const namesFor = async (isOfGraphs: boolean, { flags, asked }: Asked<'GET /runs/:run/status'>) =>
    isOfGraphs && flags.format === 'table' ? nodeNamesOf(await session.client(), String(asked.params.run)) : {};

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
      const { pageOf } = await import('./started-run.ts');
      await printOne(terminal, flags, { ...(await client.runs.get(run.id)), page: pageOf(client, run) });
    });

  group
    .verb('status', 'Progress of a run: phase, nodes, failures')
    .example('dc1')
    .argument('<run>', RUN)
    .calls(session, 'GET /runs/:run/status', {
      ask: ofRun,
      async text(status, typed) {
        const names = await namesFor('graphs' in status, typed);
        const [{ statusText }, { graphStatusText }, { isGraphRun }] = await Promise.all([
          import('../views/status.ts'),
          import('../views/graph-status.ts'),
          import('../shell/watch.ts'),
        ]);
        const now = terminal.now();
        return (color) =>
          forTypedSystem(
            terminal,
            isGraphRun(status)
              ? graphStatusText(withNodeNames(status, names), color, now)
              : statusText(status, color, now),
          );
      },
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
      const asked = { params: { run: run.id } };
      const names = await namesFor('graphs' in report, { args: [], flags, asked });
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
}

/** Its steps and nodes, and its course. */
function registerParts(group: CliCommand, session: Session): void {
  const ofRun = runOf(session);

  group
    .verb('tree', 'Every step and node of a run, as a tree')
    .example('12')
    .argument('<run>', RUN)
    .calls(session, 'GET /runs/:run/tree', {
      ask: ofRun,
      async text(tree) {
        const { treeText } = await import('../views/status.ts');
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
}

const APPROVALS: Act['examples'] = [['dc1'], ['dc1 --before control', 'only there']];

const ACTS: Readonly<Record<RunDecision, Act>> = {
  pause: {
    does: 'Start nothing new; running work finishes',
    examples: [['dc1 --reason "wait for the switch"']],
    done: 'paused',
    next: 'resume',
  },
  resume: { does: 'Continue after a pause', examples: [['dc1 --watch']], done: 'resumed' },
  stop: {
    does: 'End gracefully: running work finishes, then the report',
    examples: [['dc1 --wait']],
    done: 'will stop',
    asks: true,
  },
  cancel: {
    does: 'Abort running work, as far as MAAS can',
    examples: [['12 --reason "wrong revision"']],
    done: 'will be cancelled',
    asks: true,
  },
  approve: {
    does: 'Let a run go on where it waits for approval (--hold-before)',
    examples: APPROVALS,
    done: 'approved',
    asks: true,
  },
  reject: {
    does: 'End a run where it waits for approval, as stop does',
    examples: APPROVALS,
    done: 'rejected; it will stop',
    asks: true,
  },
  promote: {
    does: 'Let a rollout go on: the rest of its wave, or the next one',
    examples: [
      ['dc1'],
      ['dc1 --group workers --limit 5', 'from now on five failed nodes stop it'],
      ['dc1 --recheck', 'its checks were not well, and what they ask about is repaired'],
    ],
    done: 'goes on',
    isOfRollout: true,
  },
  hold: {
    does: 'Hold a rollout: its open wave ends, and no other opens',
    examples: [['dc1']],
    done: 'is held after its open wave',
    isOfRollout: true,
  },
  'abort-rollout': {
    does: 'End a rollout: what has started finishes, and its group fails',
    examples: [['dc1']],
    done: 'ends',
    isOfRollout: true,
    asks: true,
  },
};

function registerAct(group: CliCommand, session: Session, verb: RunDecision, act: Act): void {
  const { terminal } = session;
  const command = group.verb(verb, act.does).argument('<run>', RUN);
  for (const example of act.examples) command.example(...example);
  if (act.examples === APPROVALS)
    command.option('--before <name>', 'only before this group or task (default: everywhere the run waits now)');
  if (act.isOfRollout)
    command.option(
      '--group <name>',
      'only that of this group, or of this role in a run of graphs (default: each for which it has an effect)',
    );
  if (verb === 'promote')
    command
      .option('--limit <number>', 'so many failed nodes stop it from now on (default: one more)', wholeNumber)
      .option('--recheck', 'ask its checks and silent nodes again, and go on only if all are well');
  command.reason().follows();
  if (act.asks) command.asks();
  command.action(async (reference: string, flags: ActFlags) => {
    const { before, group: name, limit, recheck, wait, watch, yes } = flags;
    const client = await session.client();
    const run = await findRun(client, reference);
    const rollout = `rollout${name === undefined ? '' : ` of group ${name}`} in run ${numberOf(run)}`;
    await confirmDecision(terminal, client, run, { verb, before, group: name, yes, asks: act.asks === true });
    const body = { ...noteOf(session, flags), ...given({ before, group: name, limit, recheck }) };
    const answer = (await client.call(`POST /runs/:run/${verb}`, { params: { run: run.id }, body })) as object | null;
    if (wait || watch) return follow(session, client, run, flags);
    const record = typeof answer === 'object' && answer !== null ? answer : { id: run.id, action: verb };
    const done = `${act.isOfRollout ? `the ${rollout}` : `run ${numberOf(run)}`} ${act.done}`;
    const next = `sitewright run ${act.next ?? 'watch'} ${reference}`;
    await printOne(terminal, flags, record, forTypedSystem(terminal, `${done}\n  next:  ${next}\n`));
  });
}

/** Another attempt at a node or a task, or none. */
function registerRetries(group: CliCommand, session: Session): void {
  const { terminal } = session;
  group
    .verb('retry', 'Retry a failed node of a run; in a run of graphs, ask its agent or its checks again')
    .example('dc1 node-1 --reason "PSU replaced"')
    .argument('<run>', RUN)
    .argument('<node>', 'name of the node')
    .option('--with-tasks', 'in a run of graphs: run its tasks again before its checks')
    .reason()
    .output()
    .action(async (reference: string, node: string, flags: ActFlags & { readonly withTasks?: boolean }) => {
      const client = await session.client();
      const run = await findRun(client, reference);
      const params = { run: run.id, node };
      const body = { ...noteOf(session, flags), ...given({ tasks: flags.withTasks }) };
      const status = await client.call('POST /runs/:run/nodes/:node/retry', { params, body });
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
        const params = { run: run.id, ...(await findTask(client, async () => run, task)) };
        const body = noteOf(session, flags);
        const status = await client.call(`POST /runs/:run/nodes/:node/tasks/:task/${verb}`, { params, body });
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
  const { followAndPresent } = await import('./started-run.ts');
  process.exitCode = await followAndPresent(session.terminal, client, run, flags);
}

function noteOf(session: Session, { reason }: ActFlags): OperatorNote {
  const by = userOf(session.terminal);
  return given({ reason, by });
}
