import { post } from '../api.js';
import { Action } from '../ask.js';
import { html } from '../html.js';
import { useClusterNames, useNodeNames } from '../names.js';
import { Missing, notice, Progress, RunState, Title } from '../parts.js';
import { go } from '../router.js';
import { useData, useEvents } from '../store.js';
import { Ago, Lasting, TimeLeft } from '../times.js';
import { placeOf, said, timeOf } from '../words.js';
import { GraphRun } from './graph-run.js';
import { RunAgain } from './run-again.js';
import { nameOfRun } from './runs.js';
import { SiteRun } from './site-run.js';

const LIST = ['/runs', 'Runs'];

/** One run, live. */
export function RunView({ id, query }) {
  const base = `/api/v1/runs/${encodeURIComponent(id)}`;
  const { tables, problem } = useEvents(`${base}/events`);
  const clusters = useClusterNames();
  if (tables === null) {
    if (problem !== undefined) return html`<${Missing} of="Run" problem=${problem} list=${LIST} />`;
    return html`<${Title} of="Run" trail=${[LIST]} /><p class="quiet" role="status">Loading …</p>`;
  }
  const { run, status } = tables;
  const ofGraphs = run.kind === 'execute_graph';
  const name = nameOfRun(run, clusters);
  const held = run.outcome === null && ofGraphs && status.graphs.some(({ state }) => state === 'held');
  return html`<${Title}
      of=${name}
      trail=${[LIST]}
      actions=${html`<${Steering} base=${base} run=${run} status=${status} ofGraphs=${ofGraphs} />`}
    >
      ${name} <${RunState} run=${{ ...status, held, outcome: run.outcome }} />
    <//>
    <${Facts} run=${run} expected=${status.expected} />
    <${Progress}
      done=${status.done}
      total=${status.total}
      bad=${ofGraphs ? status.counts.failed : status.counts.failed}
      badly=${ofGraphs ? failedAndBlocked(status.counts) : undefined}
      what=${ofGraphs ? 'tasks' : 'nodes'}
    />
    ${
      status.paused &&
      html`<p class="banner" role="status">
      Paused since <${Ago} of=${status.paused.since} />${status.paused.by ? ` by ${status.paused.by}` : ''}${
        status.paused.reason ? `: ${status.paused.reason}` : ''
      }. Running work finishes; nothing new starts.
    </p>`
    }
    ${status.awaiting_approval && html`<${Approvals} base=${base} awaiting=${status.awaiting_approval} />`}
    ${
      status.maas_silent_since &&
      html`<p class="banner" role="status">
      MAAS has not answered since ${timeOf(status.maas_silent_since)}. The run continues when it does.
    </p>`
    }
    ${
      held &&
      html`<p class="banner" role="status">
      Tasks failed, and the run is held open: retry or skip them below, or stop the run.
    </p>`
    }
    ${status.stopping && run.outcome === null && html`<p class="banner" role="status">Stopping: running work finishes; nothing new starts.</p>`}
    ${run.outcome !== null && html`<${Conclusion} base=${base} run=${run} />`}
    ${
      ofGraphs
        ? html`<${GraphRun} base=${base} tables=${tables} query=${query} />`
        : html`<${SiteRun} base=${base} tables=${tables} query=${query} />`
    }
    <${OperatorActions} base=${base} cluster=${run.labels.cluster} again=${`${status.phase}/${status.paused?.since}/${status.done}/${notice.value}`} />`;
}

/** Pending approvals, with the actions. */
const Approvals = ({ base, awaiting }) =>
  awaiting.map(
    ({ before, since }) => html`<div class="banner" role="status" key=${before}>
    <p>
      Waiting for approval ${before === '*' ? 'before any change' : html`before <strong>${before}</strong>`}${' since '}<${Ago} of=${since} />. Everything else continues.
    </p>
    <div class="actions">
      <${Action}
        label="Approve"
        title=${before === '*' ? 'Approve the run' : `Approve ${before}`}
        explain="The run continues there. The report records who approved and why."
        act=${(given) => post(`${base}/approve`, { ...given, before })}
        done="Approved: the run continues."
      />
      <${Action}
        label="Reject"
        title=${before === '*' ? 'Reject the run' : `Reject ${before}`}
        explain="Ends the run: running work finishes, nothing new starts, the report is written."
        act=${(given) => post(`${base}/reject`, { ...given, before })}
        done="Rejected: the run is stopping."
        danger
      />
    </div>
  </div>`,
  );

const failedAndBlocked = (counts) =>
  ['failed', 'blocked', 'not_reached']
    .filter((status) => counts[status] > 0)
    .map((status) => `${counts[status]} ${said(status)}`)
    .join(', ');

/** Its target, starter, time and reason. */
function Facts({ run, expected }) {
  const { cluster } = run.labels;
  const known = useData(cluster === undefined ? null : `/api/v1/clusters/${cluster}`);
  const about = [
    run.site !== null && html`site <a href=${`/sites/${encodeURIComponent(run.site)}`}>${run.site}</a>`,
    run.number !== null && `run #${run.number}`,
    cluster !== undefined && html`cluster <a href=${`/clusters/${cluster}`}>${known.data?.name ?? cluster}</a>`,
    run.revision !== null && `revision ${run.revision}`,
    html`started <${Ago} of=${run.started_at} />${run.started_by ? ` by ${run.started_by}` : ''}`,
    run.reason && (run.outcome === null || run.outcome === 'success') && `“${run.reason}”`,
    html`${run.ended_at ? 'took' : 'running for'} <${Lasting} from=${run.started_at} to=${run.ended_at} />${expected && html`<${TimeLeft} of=${expected} />`}`,
    run.temporal_url && html`<a href=${run.temporal_url} target="_blank" rel="noreferrer">Show in Temporal</a>`,
  ].filter(Boolean);
  return html`<p class="facts">${about.map((one, at) => html`${at > 0 && ' · '}${one}`)}</p>`;
}

/** Why it ended, and the next step. */
function Conclusion({ base, run }) {
  const report = useData(`${base}/report`, { again: run.outcome });
  const { reason, next_step: next, warnings = [] } = report.data ?? {};
  if (!reason && warnings.length === 0) return null;
  return html`<div class=${run.outcome === 'success' || run.outcome === 'nothing_to_do' ? 'banner' : 'problem'} role="status">
    ${reason && html`<p><strong>${reason}</strong></p>`}${next && html`<p>${next}</p>`}
    ${warnings.length > 0 && html`<ul>${warnings.map((one) => html`<li>${one}</li>`)}</ul>`}
  </div>`;
}

function Steering({ base, run, status, ofGraphs }) {
  if (run.outcome !== null) {
    const { cluster, transaction } = run.labels;
    const offer = html`<${RunAgain} base=${base} run=${run} />`;
    if (!ofGraphs || transaction === undefined || run.outcome === 'success' || run.outcome === 'nothing_to_do')
      return offer;
    const again = async (given) => {
      const started = await post('/api/v1/graphs/execute', {
        cluster: Number(cluster),
        from: Number(transaction),
        ...given,
      });
      go(`/runs/${started.run}`);
    };
    return html`${offer}<${Action}
      label="Retry from failure"
      explain="Starts a run with the failed tasks of this one and everything after them. Successful tasks are not run again."
      act=${again}
      done="A new run retries the failed tasks."
    />`;
  }
  const to = (verb) => (given) => post(`${base}/${verb}`, given);
  const aborts = ofGraphs ? 'Running tasks are killed on their nodes.' : 'Running work is aborted as far as MAAS can.';
  return html`${
    status.paused
      ? html`<${Action} label="Resume" explain="Resumes the run." act=${to('resume')} done="The run continues." />`
      : html`<${Action}
          label="Pause"
          explain="Running work finishes, and nothing new starts until the run is resumed. Nothing is lost."
          act=${to('pause')}
          done="The run is paused."
        />`
  }
    <${Action}
      label="Stop"
      explain="Ends the run gracefully: running work finishes, nothing new starts, the report is written. The run cannot be resumed."
      act=${to('stop')}
      done="The run is stopping."
      danger
    />
    <${Action}
      label="Cancel"
      explain=${`Ends the run immediately. ${aborts} Machines may be left half done: use Stop unless it is urgent.`}
      act=${to('cancel')}
      done="The run is being cancelled."
      danger
    />`;
}

/** Actions of operators on the run. */
function OperatorActions({ base, again, cluster }) {
  const names = useNodeNames(cluster);
  const report = useData(`${base}/report`, { again });
  const actions = report.data?.operator ?? [];
  if (actions.length === 0) return null;
  return html`<h2>Operator actions</h2>
    <ul class="plain">
      ${actions.map(
        (one) => html`<li>
          <${Ago} of=${one.at} /> <strong>${said(one.action)}</strong> ${one.task === undefined ? (one.node ?? one.before ?? '') : placeOf(one, names)} ${one.by ? `by ${one.by}` : ''}${
            one.reason ? `: ${one.reason}` : ''
          }
        </li>`,
      )}
    </ul>`;
}
