// What people do to a run: on its page, and where it is listed.
import type { ComponentChildren } from 'preact';
import type { RolloutStatus } from '../../core/contracts/rollout.ts';
import type { RunFrame } from '../../core/contracts/run-tasks.ts';
import type { Run } from '../../core/contracts/runs.ts';
import type { PermitWait } from '../../core/permits/answer.ts';
import { waitText } from '../../core/permits/wait-text.ts';
import { isForAnswers } from '../../core/rollout/next-wave.ts';
import { rolloutsIn, rolloutVerbs } from '../../core/rollout/rollout-steps.ts';
import { rolloutText } from '../../core/rollout/rollout-text.ts';
import type { AnyRunStatus } from '../../core/run/status.ts';
import { numberOf } from '../../core/run/subject.ts';
import { type RunDecision, type RunWork, WORK_AFTER, workOfGraphs, workOfSite } from '../../core/run-work.ts';
import { GRAPH_RUN_KIND } from '../../core/words.ts';
import { type Answer, at, get, send } from '../kit/api.ts';
import { Action } from '../kit/ask.tsx';
import { commandOf } from '../kit/command-text.ts';
import { useNodeNames } from '../kit/names.ts';
import { Loaded, Waiting } from '../kit/parts.tsx';
import { go } from '../kit/router.ts';
import { listsChanged, useAll, useData, useRun } from '../kit/store.ts';
import { forEach } from '../kit/table.tsx';
import { placeOf, some } from '../kit/words.ts';
import { Touched } from './site-plan.tsx';

interface OfRun {
  readonly run: Run;
  /** Where they are shown anyway. */
  readonly tables?: RunFrame | undefined;
}

export const isOfGraphs = ({ kind }: Run): boolean => kind === GRAPH_RUN_KIND;

/** Lists show what was done at once. */
const thenLists = async (done: Promise<unknown>): Promise<void> => {
  await done;
  listsChanged.value++;
};

interface Verb {
  readonly label: string;
  readonly explain: string;
  readonly done: string;
  readonly danger?: boolean;
}

const VERBS: Readonly<Record<RunDecision, Verb>> = {
  approve: {
    label: 'Approve',
    explain: 'The run continues there. The report records who approved and why.',
    done: 'Approved: the run continues.',
  },
  reject: {
    label: 'Reject',
    explain: 'Ends the run: running work finishes, nothing new starts, the report is written.',
    done: 'Rejected: the run is stopping.',
    danger: true,
  },
  pause: {
    label: 'Pause',
    explain: 'Running work finishes, and nothing new starts until the run is resumed. Nothing is lost.',
    done: 'The run is paused.',
  },
  resume: { label: 'Resume', explain: 'Resumes the run.', done: 'The run continues.' },
  stop: {
    label: 'Stop',
    explain:
      'Ends the run gracefully: running work finishes, nothing new starts, the report is written. The run cannot be resumed.',
    done: 'The run is stopping.',
    danger: true,
  },
  cancel: {
    label: 'Cancel',
    explain:
      'Ends the run immediately: running work is aborted, tasks are killed on their nodes, as far as MAAS and agents can. Machines may be left half done: use Stop unless it is urgent.',
    done: 'The run is being cancelled.',
    danger: true,
  },
  promote: {
    label: 'Promote',
    explain:
      'Vouches for what is there: the rest of the wave starts, or the next one opens. One more failure holds it.',
    done: 'The rollout goes on.',
  },
  hold: {
    label: 'Hold',
    explain: 'The open wave ends, and no other opens until someone promotes it.',
    done: 'The rollout is held after its open wave.',
  },
  'abort-rollout': {
    label: 'Abort',
    explain: 'Ends the rollout: what has started finishes, and its group fails.',
    done: 'The rollout ends.',
    danger: true,
  },
};

interface SteerProps extends OfRun {
  readonly verb: 'pause' | 'resume' | 'stop' | 'cancel';
  readonly main?: boolean;
}

/** Pauses, resumes, stops or cancels. */
export const Steer = ({ run, tables, verb, main }: SteerProps) => (
  <Action
    {...VERBS[verb]}
    title={tables === undefined ? `${VERBS[verb].label} run ${numberOf(run)}` : VERBS[verb].label}
    verb={verb}
    main={main ?? false}
    preview={() => <Work run={run} tables={tables} verb={verb} />}
    act={({ note }) => thenLists(send(`POST /runs/:run/${verb}`, { params: { run: run.id }, body: note }))}
    command={(given) => commandOf(['run', verb, numberOf(run)], given)}
  />
);

/** Asks the nodes and checks of a held rollout again. */
const Recheck = ({ run, tables, group }: OfRun & { readonly group: string }) => (
  <Action
    label="Ask again"
    title={`Ask the checks of ${group} again`}
    explain="Its nodes and checks are asked again. The rollout goes on if all are well, and stays held if not."
    done="They are asked again."
    main
    preview={() => <Work run={run} tables={tables} verb="promote" group={group} />}
    act={({ note }) =>
      thenLists(send('POST /runs/:run/promote', { params: { run: run.id }, body: { ...note, group, recheck: true } }))
    }
    command={(given) => commandOf(['run', 'promote', numberOf(run), '--group', group, '--recheck'], given)}
  />
);

/** Lets the rollout of a group or a role go on, holds it, or ends it. */
export const SteerRollout = ({
  run,
  tables,
  group,
  of,
}: OfRun & { readonly group: string; readonly of: RolloutStatus }) => (
  <>
    {of.state === 'held' && isForAnswers(of.why) && <Recheck run={run} tables={tables} group={group} />}
    {rolloutVerbs(of).map((verb) => (
      <Action
        key={verb}
        {...VERBS[verb]}
        title={`${VERBS[verb].label} the rollout of ${group}`}
        main={verb === 'promote' && of.state === 'held' && !isForAnswers(of.why)}
        fields={
          verb === 'promote' ? [{ name: 'limit', label: 'Failures that stop it', placeholder: `${of.limit}` }] : []
        }
        preview={() => <Work run={run} tables={tables} verb={verb} group={group} />}
        act={({ note, texts: { limit } }) =>
          thenLists(
            send(`POST /runs/:run/${verb}`, {
              params: { run: run.id },
              body: { ...note, group, ...(limit !== undefined && { limit: Number(limit) }) },
            }),
          )
        }
        command={(given) => {
          const limit = given.texts.limit === undefined ? [] : ['--limit', given.texts.limit];
          return commandOf(['run', verb, numberOf(run), '--group', group, ...limit], given);
        }}
      />
    ))}
  </>
);

/** The rollouts that have begun: their waves, soaks and failures, and what people can do. */
export const Rollouts = ({ tables, of }: { readonly tables: RunFrame; readonly of: ReturnType<typeof rolloutsIn> }) =>
  of.map(
    ({ name, rollout }) =>
      rolloutVerbs(rollout).length > 0 && (
        <div class={rollout.state === 'held' ? 'banner' : 'card'} role="status" key={name}>
          <p>
            Rollout of <strong>{name}</strong>: {rolloutText(rollout)}
          </p>
          <div class="actions">
            <SteerRollout run={tables.run} tables={tables} group={name} of={rollout} />
          </div>
        </div>
      ),
  );

/** What an open run waits for before it may touch machines; null once it has stopped waiting, as a change of its status says that. */
export const PermitWaits = ({ of }: { readonly of: readonly PermitWait[] | null | undefined }) => (
  <div role="status">
    {of?.map((wait) => (
      <p class="banner" key={wait.limit}>
        {waitText(wait)}.
      </p>
    ))}
  </div>
);

/** Approves, or rejects, what waits for that. */
export const Decide = ({ run, tables, before }: OfRun & { readonly before: string }) =>
  (['approve', 'reject'] as const).map((verb) => (
    <Action
      key={verb}
      {...VERBS[verb]}
      title={`${VERBS[verb].label} ${before === '*' ? 'the run' : before}`}
      verb={verb}
      main={verb === 'approve'}
      preview={() => <Work run={run} tables={tables} verb={verb} before={verb === 'approve' ? before : undefined} />}
      act={({ note }) =>
        thenLists(send(`POST /runs/:run/${verb}`, { params: { run: run.id }, body: { ...note, before } }))
      }
      command={(given) => commandOf(['run', verb, numberOf(run), '--before', before], given)}
    />
  ));

/** What failed in a run: nodes of a site, or tasks of graphs. */
type Failed = { readonly name: string; readonly node: string; readonly task?: string };

const FAILED_SHOWN = 30;

/** In an open run, tries again what failed; of an ended one, starts a run with that. Nothing where it cannot. */
export function RetryFailed({ run, main = false }: { readonly run: Run; readonly main?: boolean }) {
  const shared = { verb: 'retry', main, title: `Retry what failed in run ${numberOf(run)}` };
  const { id, site, number, cluster } = run;
  if (run.outcome === null)
    return (
      <Action
        {...shared}
        label="Retry failed"
        explain="Tries them again while the run continues."
        preview={() => <FailedIn run={run}>{(names) => <p>{some(names, FAILED_SHOWN)}</p>}</FailedIn>}
        act={async ({ note }) =>
          thenLists(
            forEach(await failedIn(run), nameOf, ({ node, task }) =>
              task === undefined
                ? send('POST /runs/:run/nodes/:node/retry', { params: { run: id, node }, body: note })
                : send('POST /runs/:run/nodes/:node/tasks/:task/retry', {
                    params: { run: id, node, task },
                    body: note,
                  }),
            ),
          )
        }
        done="Retrying what failed."
      />
    );
  if (isOfGraphs(run))
    return number === null || cluster === null ? null : (
      <Action
        {...shared}
        label="Retry from failure"
        explain="Starts a run with the failed tasks of this one and everything after them. Successful tasks are not run again."
        preview={() => <Unfinished run={run} />}
        act={async ({ note }) =>
          go(`/runs/${(await send('POST /graphs/execute/', { body: { cluster, from: number, ...note } })).run}`)
        }
        command={(given) => commandOf(['graph', 'execute', '--from', number], given)}
        done="A new run retries the failed tasks."
      />
    );
  return site === null || !run.failed_nodes ? null : (
    <Action
      {...shared}
      label="Run failed again"
      explain="Starts a run that releases the machines that failed, and deploys them again. Their disks are lost."
      preview={() => (
        <FailedIn run={run}>{(nodes) => <Touched site={site} kind="redeploy_nodes" nodes={nodes} />}</FailedIn>
      )}
      act={async ({ note }) => {
        const nodes = (await failedIn(run)).map(nameOf);
        const started = await send('POST /sites/:site/runs', {
          params: { site },
          body: { kind: 'redeploy_nodes', nodes, ...note },
        });
        go(`/runs/${started.id}`);
      }}
      done="A new run deploys the failed machines again."
    />
  );
}

const nameOf = ({ name }: Failed): string => name;

async function failedIn(run: Run, signal?: AbortSignal): Promise<readonly Failed[]> {
  const params = { run: run.id };
  if (!isOfGraphs(run)) {
    const { items } = await get(at('GET /runs/:run/nodes', { params }), signal);
    return items.flatMap(({ name, state }) => (state === 'failed' ? [{ name, node: name }] : []));
  }
  const query = { statuses: 'failed', limit: 1000 };
  const [{ items }, { node_names: names }, status] = await Promise.all([
    get(at('GET /runs/:run/tasks', { params, query }), signal),
    get(at('GET /runs/:run/counts', { params }), signal),
    get(at('GET /runs/:run/status', { params }), signal),
  ]);
  return [
    ...items.map(({ task, node }) => ({ name: placeOf({ task, node }, names), node, task })),
    ...rolloutsIn(status).flatMap(({ rollout: { unwell = [] } }) => unwell.map((name) => ({ name, node: name }))),
    ...offlineIn(status).map((node) => ({ name: names[node] ?? node, node })),
  ];
}

/** Nodes of running graphs that did not answer before they began. */
const offlineIn = (status: AnyRunStatus): readonly string[] =>
  'cluster' in status ? status.graphs.flatMap(({ offline, ended_at }) => (ended_at === undefined ? offline : [])) : [];

interface FailedInProps {
  readonly run: Run;
  readonly children: (names: readonly string[]) => ComponentChildren;
}

function FailedIn({ run, children }: FailedInProps) {
  const failed = useAll(run.id, async (_before, signal) => ({ items: await failedIn(run, signal), next: null }));
  return <Loaded from={failed}>{(all) => children(all.map(nameOf))}</Loaded>;
}

interface WorkProps extends OfRun {
  readonly verb: RunDecision;
  /** What waits for approval. */
  readonly before?: string | undefined;
  /** Only of this group. */
  readonly group?: string;
}

/** What becomes of the nodes of a site, or the tasks of graphs, by a decision about their run. */
const Work = (of: WorkProps) =>
  isOfGraphs(of.run) ? (
    <WorkOfGraphs {...of} />
  ) : of.tables ? (
    <WorkOfSite {...of} tables={of.tables} />
  ) : (
    <LiveWork {...of} />
  );

function LiveWork(of: WorkProps) {
  const { tables } = useRun(of.run.id);
  return tables === null ? <Waiting /> : <WorkOfSite {...of} tables={tables} />;
}

function WorkOfSite({ tables, verb, before, group }: WorkProps & { readonly tables: RunFrame }) {
  const nodes = Object.values(tables.nodes ?? {});
  if (nodes.length === 0) return <p>Its documents are not loaded yet.</p>;
  return <WorkText verb={verb} of={workOfSite(nodes, Object.values(tables.site_groups ?? {}), before, group)} />;
}

function WorkOfGraphs({ run, tables, verb, before }: WorkProps) {
  const names = useNodeNames(run.cluster);
  const query = { statuses: 'waiting,running,retrying', limit: 100 };
  const tasks = useData(at('GET /runs/:run/tasks', { params: { run: run.id }, query }), {
    again: JSON.stringify(tables?.node_tasks),
  });
  return (
    <Loaded from={tasks}>
      {({ items }) => <WorkText verb={verb} of={workOfGraphs(items, (node) => names[node] ?? node, before)} />}
    </Loaded>
  );
}

const WorkText = ({ verb, of: { running, next } }: { readonly verb: RunDecision; readonly of: RunWork }) => {
  const after = WORK_AFTER[verb];
  return (
    <>
      {running.length + next.length === 0 && <p>No work is left.</p>}
      {running.length > 0 && (
        <p>
          Running, {after.running}: <strong>{some(running, 30)}</strong>
        </p>
      )}
      {next.length > 0 && (
        <p>
          Still to do, {after.next}: <strong>{some(next, 30)}</strong>
        </p>
      )}
    </>
  );
};

type Tasks = Answer<'GET /runs/:run/tasks'>;

/** The tasks that did not come to their end, by name. */
function Unfinished({ run }: { readonly run: Run }) {
  const names = useNodeNames(run.cluster);
  const query = { statuses: 'failed,blocked,not_reached,waiting', limit: 100 };
  const tasks = useData(at('GET /runs/:run/tasks', { params: { run: run.id }, query }));
  const named = ({ items }: Tasks) => items.map((one) => placeOf(one, names));
  return (
    <Loaded from={tasks}>
      {(all) => (
        <p>
          {all.items.length === 0 ? 'No task is left.' : 'Will run: '}
          <strong>{some(named(all), FAILED_SHOWN)}</strong>
          {all.next !== null && ', and further ones'}
        </p>
      )}
    </Loaded>
  );
}
