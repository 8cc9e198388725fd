import type { ComponentChildren } from 'preact';
import type { GraphRunStatus } from '../../core/contracts/graph-run.ts';
import type { RunFrame } from '../../core/contracts/run-tasks.ts';
import type { Run } from '../../core/contracts/runs.ts';
import { rolloutsIn } from '../../core/rollout/rollout-steps.ts';
import { keptByHeld, keptByWaiting } from '../../core/run/kept-plan.ts';
import { lateText } from '../../core/run/late-text.ts';
import { isHeld } from '../../core/run/status.ts';
import { type Answer, at } from '../kit/api.ts';
import { shownMoment } from '../kit/clock.ts';
import { type Names, useClusterNames } from '../kit/names.ts';
import { type Crumb, Missing, NewTab, notice, Progress, RunState, SiteLink, Title, Waiting } from '../kit/parts.tsx';
import { useData, useRun } from '../kit/store.ts';
import { Ago, Lasting, Paused, TimeLeft } from '../kit/times.tsx';
import { doneOf, placeOf, said, saidCounts, sum, totalOf, workOf } from '../kit/words.ts';
import { GraphRun } from './graph-run.tsx';
import { NodeProgress } from './group-drawing.tsx';
import { Decide, RetryFailed, Steer } from './run-actions.tsx';
import { RunAgain } from './run-again.tsx';
import { nameOfRun } from './runs.tsx';
import { SiteRun } from './site-run.tsx';

const LIST: Crumb = ['/runs', 'Runs'];

type Status = RunFrame['status'];

const isOfGraphs = (status: Status): status is GraphRunStatus => 'graphs' in status;

/** One run, live. */
export function RunView({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const { tables, problem } = useRun(id);
  const clusters = useClusterNames();
  // Of a run on a site it comes with all else. Read again with each change that people make.
  const isAsked = tables !== null && tables.report === undefined;
  const again = tables && `${tables.status.phase}/${tables.status.paused?.since}/${tables.status.done}/${notice.value}`;
  const told = useData(isAsked ? at('GET /runs/:run/report', { params: { run: id } }) : null, { again }).data;
  if (tables === null)
    return (
      <>
        <Title of="Run" trail={[LIST]} />
        {problem === undefined ? <Waiting /> : <Missing problem={problem} list={LIST} />}
      </>
    );
  const { run, status } = tables;
  const report = tables.report ?? told;
  const ofGraphs = isOfGraphs(status);
  const name = nameOfRun(run, clusters);
  const held = run.outcome === null && isHeld(status);
  const standing = {
    outcome: run.outcome,
    phase: status.phase,
    paused: status.paused !== null,
    held,
    awaiting_approval: status.awaiting_approval !== undefined,
  };
  return (
    <>
      <Title of={name} trail={[LIST]} actions={<Steering tables={tables} />}>
        {name} <RunState run={standing} />
      </Title>
      <Facts run={run} expected={status.expected} cluster={clusters.get(run.cluster ?? 0)} />
      {ofGraphs ? (
        <TaskProgress graphs={Object.values(tables.graphs ?? {})} status={status} />
      ) : (
        <NodeProgress nodes={Object.values(tables.nodes ?? {})} total={status.total} />
      )}
      {status.paused && (
        <p class="banner" role="status">
          Paused <Paused of={status.paused} />. Running work finishes; nothing new starts.
        </p>
      )}
      {status.awaiting_approval && <Approvals tables={tables} awaiting={status.awaiting_approval} />}
      {status.maas_silent_since && (
        <p class="banner" role="status">
          MAAS last answered <Ago of={status.maas_silent_since} />. The run continues when it does.
        </p>
      )}
      {(isOfGraphs(status) ? [] : (status.late ?? [])).map((late) => (
        <p key={late.node} class="banner" role="status">
          {lateText(late, shownMoment.value)}
        </p>
      ))}
      {held && ofGraphs && !rolloutsIn(status).some(({ rollout }) => rollout.state === 'held') && (
        <p class="banner" role="status">
          Tasks failed, and the run is held open: retry or skip them below, or stop the run.{' '}
          <Kept of={keptByHeld({ cluster: status.cluster, transaction: status.transaction })} />
        </p>
      )}
      {status.stopping && run.outcome === null && (
        <p class="banner" role="status">
          Stopping: running work finishes; nothing new starts.
        </p>
      )}
      {run.outcome !== null && report && <Conclusion run={run} of={report} />}
      {isOfGraphs(status) ? (
        <GraphRun id={id} tables={tables} status={status} query={query} />
      ) : (
        <SiteRun tables={tables} status={status} query={query} />
      )}
      <OperatorActions of={report?.operator ?? []} names={tables.node_names} />
    </>
  );
}

interface TaskProgressProps {
  readonly graphs: readonly NonNullable<RunFrame['graphs']>[string][];
  readonly status: GraphRunStatus;
}

/** Counts the same rows as all below it: what the run knows is a moment ahead of them. */
function TaskProgress({ graphs, status }: TaskProgressProps) {
  const counts = totalOf(graphs.map((one) => one.counts));
  const isCounted = sum(counts) > 0;
  const { failed = 0, blocked = 0, not_reached = 0 } = isCounted ? counts : status.counts;
  return (
    <Progress
      done={isCounted ? doneOf(counts) : status.done}
      total={isCounted ? workOf(counts) : status.total}
      bad={failed}
      badly={saidCounts({ failed, blocked, not_reached })}
      what="tasks"
    />
  );
}

/** That the run goes on with the plan that it has, and how to get another. */
const Kept = ({ of: { text, commands } }: { readonly of: ReturnType<typeof keptByHeld> }) => (
  <>
    {text[0]!.toUpperCase()}
    {text.slice(1)}; for a new one: <code>{commands[0]}</code>, then <code>{commands[1]}</code>.
  </>
);

interface ApprovalsProps {
  readonly tables: RunFrame;
  readonly awaiting: NonNullable<Status['awaiting_approval']>;
}

/** Pending approvals, with the actions. */
const Approvals = ({ tables, awaiting }: ApprovalsProps) =>
  awaiting.map(({ before, since }) => (
    <div class="banner" role="status" key={before}>
      <p>
        Waiting for approval before <strong>{before === '*' ? 'any change' : before}</strong>. Asked <Ago of={since} />.
        Everything else continues. <Kept of={keptByWaiting(tables.run.id, !isOfGraphs(tables.status))} />
      </p>
      <div class="actions">
        <Decide run={tables.run} tables={tables} before={before} />
      </div>
    </div>
  ));

interface FactsProps {
  readonly run: Run;
  readonly expected: Status['expected'];
  /** The name of its cluster. */
  readonly cluster: string | undefined;
}

/** Its target, starter, time and reason. */
function Facts({ run, expected, cluster }: FactsProps) {
  const about: ComponentChildren[] = [
    run.site !== null && (
      <>
        site <SiteLink of={run.site} />
      </>
    ),
    run.number !== null && `run #${run.number}`,
    run.cluster !== null && (
      <>
        cluster <a href={`/clusters/${run.cluster}`}>{cluster ?? run.cluster}</a>
      </>
    ),
    run.revision !== null && `revision ${run.revision}`,
    <>
      started <Ago of={run.started_at} />
      {run.started_by ? ` by ${run.started_by}` : ''}
    </>,
    run.reason && (run.outcome === null || run.outcome === 'success') && `“${run.reason}”`,
    <>
      {run.ended_at ? 'took' : 'running for'} <Lasting from={run.started_at} to={run.ended_at} />
      {expected && <TimeLeft of={expected} />}
    </>,
    run.temporal_url && (
      <>
        <NewTab at={run.temporal_url} />: <NewTab at={`${run.temporal_url}/history`}>history</NewTab>,{' '}
        <NewTab at={`${run.temporal_url}/relationships`}>parts</NewTab>
        {run.outcome === null && (
          <>
            , <NewTab at={`${run.temporal_url}/pending-activities`}>activities now</NewTab>
          </>
        )}
      </>
    ),
  ].filter(Boolean);
  return (
    <p class="facts">
      {about.map((one, index) => (
        <>
          {index > 0 && ' · '}
          {one}
        </>
      ))}
    </p>
  );
}

const isWell = ({ outcome }: Run): boolean => outcome === 'success' || outcome === 'nothing_to_do';

type Report = Pick<Answer<'GET /runs/:run/report'>, 'reason' | 'next_step' | 'warnings'>;

/** Why it ended, and the next step. */
function Conclusion({ run, of: { reason, next_step: next, warnings } }: { readonly run: Run; readonly of: Report }) {
  if (!reason && warnings.length === 0) return null;
  return (
    <div class={isWell(run) || !reason ? 'banner' : 'problem'} role="status">
      {reason && (
        <p>
          <strong>{reason}</strong>
        </p>
      )}
      {next && <p>{next}</p>}
      {warnings.length > 0 && (
        <ul>
          {warnings.map((one) => (
            <li>{one}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Steering({ tables }: { readonly tables: RunFrame }) {
  const { run, status } = tables;
  const of = { run, tables };
  if (run.outcome !== null) {
    return (
      <>
        {!isWell(run) && <RetryFailed run={run} main />}
        <RunAgain run={run} />
      </>
    );
  }
  const asks = status.awaiting_approval !== undefined;
  return (
    <>
      {status.paused ? <Steer {...of} verb="resume" main={!asks} /> : <Steer {...of} verb="pause" />}
      {(run.failed_nodes ?? 0) > 0 && <RetryFailed run={run} main={run.held && run.site === null && !asks} />}
      <Steer {...of} verb="stop" />
      <Steer {...of} verb="cancel" />
    </>
  );
}

interface OperatorActionsProps {
  readonly of: readonly OperatorAction[];
  readonly names: Names | undefined;
}

/** Actions of operators on the run. */
function OperatorActions({ of: actions, names }: OperatorActionsProps) {
  if (actions.length === 0) return null;
  return (
    <>
      <h2>Operator actions</h2>
      <ul class="plain">
        {actions.map((one) => (
          <li>
            <Ago of={one.at} /> <strong>{said(one.action)}</strong> {aboutOf(one, names)} {one.by ? `by ${one.by}` : ''}
            {one.reason ? `: ${one.reason}` : ''}
          </li>
        ))}
      </ul>
    </>
  );
}

type OperatorAction = Answer<'GET /runs/:run/report'>['operator'][number];

const aboutOf = (action: OperatorAction, names: Names | undefined): string => {
  const { node, before } = action;
  if ('task' in action && action.task !== undefined && node !== undefined)
    return placeOf({ task: action.task, node }, names);
  return node ?? before ?? '';
};
