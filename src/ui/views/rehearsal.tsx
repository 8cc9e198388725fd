import { useEffect, useState } from 'preact/hooks';
import type { GraphRunReport } from '../../core/contracts/graph-run.ts';
import type { Rehearsal, RehearsalStep } from '../../core/contracts/rehearsals.ts';
import type { RunReport } from '../../core/contracts/site-run-report.ts';
import { SITE_RUN_KINDS } from '../../core/words.ts';
import { type Problem as Refusal, send } from '../kit/api.ts';
import { Field, type FormField, isText, listed, type Option, submitted } from '../kit/ask.tsx';
import { fieldOf, textOf } from '../kit/own-data.ts';
import { Problem, State, Waiting } from '../kit/parts.tsx';
import { chosenIn } from '../kit/rehearsed.ts';
import { problemOf } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { count, lasting, msOf, said, some } from '../kit/words.ts';
import { type BarOf, LINES_A_PAGE, Timeline } from './timeline.tsx';

/** What a run of it is on. */
export type Rehearsed = { readonly site: string } | { readonly cluster: number };

interface RehearsalViewProps {
  readonly of: Rehearsed;
  /** What was chosen in the dialog that starts the run. Default: its deployment, or that of its changes. */
  readonly request?: object | undefined;
  /** Of a node, by its id. */
  readonly nameOf?: (node: string) => string;
}

/** What a run would do, with the faults that people ask for; nothing is changed. It is computed when it is opened, and when asked. */
export function RehearsalView({ of, request = {}, nameOf = String }: RehearsalViewProps) {
  const [answer, setAnswer] = useState<Rehearsal>();
  const [problem, setProblem] = useState<Refusal>();
  const [busy, setBusy] = useState(false);
  const ask = async (form: FormData): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setAnswer(await rehearse(of, request, form));
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  useEffect(() => void ask(new FormData()), []);
  const wanted = textOf(fieldOf(request, 'kind'));
  const chosen = chosenIn(request, nameOf);
  // Which nodes to redeploy is chosen elsewhere.
  const kinds = SITE_RUN_KINDS.filter((kind) => kind !== 'redeploy_nodes' || kind === wanted);
  return (
    <section aria-label="Rehearsal">
      <h2 id="rehearsal">Rehearsal</h2>
      <p class="facts">
        The run in virtual time, on simulated machines and nodes, with the durations of earlier runs. Nothing is
        changed.
      </p>
      {chosen.length > 0 && <p class="facts">As chosen: {chosen.join(' · ')}</p>}
      <form class="filters" aria-label="What goes wrong" onSubmit={submitted((form) => ask(new FormData(form)))}>
        {'site' in of && (
          <>
            <Field
              field={{
                ...{ name: 'kind', label: 'Run', type: 'select', value: wanted },
                options: kinds.map((kind): Option => [kind, said(kind)]),
              }}
            />
            {FAULTS.map((field) => (
              <Field key={field.name} field={field} />
            ))}
          </>
        )}
        <Field field={{ name: 'fail_tasks', label: 'Tasks that fail', placeholder: 'none; TASK or TASK@NODE' }} />
        <button type="submit" disabled={busy}>
          {busy ? 'Please wait …' : 'Rehearse'}
        </button>
      </form>
      <Problem of={problem} />
      {busy && answer === undefined && <Waiting text="Rehearsing" />}
      {answer && <Result of={answer} />}
    </section>
  );
}

const FAULTS: readonly FormField[] = [
  { name: 'fail_nodes', label: 'Machines that fail to deploy', placeholder: 'none; names, with commas' },
  { name: 'away', label: 'MAAS is away for, minutes', placeholder: '0', pattern: '\\d{1,3}' },
  { name: 'after', label: '… after, minutes', placeholder: '1', pattern: '\\d{1,4}' },
];

async function rehearse(of: Rehearsed, request: object, form: FormData): Promise<Rehearsal> {
  const text = (name: string): string => {
    const value = form.get(name);
    return value !== null && isText(value) ? value : '';
  };
  const tasks = listed(text('fail_tasks')).map((one) => {
    const at = one.lastIndexOf('@');
    return at > 0 ? { task: one.slice(0, at), node: one.slice(at + 1) } : { task: one };
  });
  const fail_tasks = tasks.length > 0 ? { fail_tasks: tasks } : {};
  if ('cluster' in of) {
    const body = { ...request, ...fail_tasks };
    return send('POST /clusters/:id/rehearsals', { params: { id: of.cluster }, body });
  }
  const nodes = listed(text('fail_nodes'));
  const away = Number(text('away')) * 60;
  const after = text('after') === '' ? {} : { after: Number(text('after')) * 60 };
  const kind = SITE_RUN_KINDS.find((one) => one === text('kind'));
  const body = {
    // What was chosen for one kind of run is not for another.
    ...(kind === undefined || kind === (fieldOf(request, 'kind') ?? 'deploy_site') ? request : { kind }),
    ...(nodes.length > 0 && { fail_nodes: nodes }),
    ...(away > 0 && { maas_away: [{ seconds: away, ...after }] }),
    ...fail_tasks,
  };
  return send('POST /sites/:site/rehearsals', { params: { site: of.site }, body });
}

function Result({ of }: { readonly of: Rehearsal }) {
  const [page, setPage] = useState(0);
  const { outcome, seconds, report, events, events_omitted, steps, started_at, assumptions } = of;
  const momentAt = (after: number): string => new Date(msOf(started_at) + after * 1000).toISOString();
  const sinceStart = (moment: string | number | Date): string => clock((msOf(moment) - msOf(started_at)) / 1000);
  const nodes = [...new Set(steps.map(({ node }) => node))];
  return (
    <>
      <p>
        {outcome === null ? (
          <State of="running">not ended after 30 days</State>
        ) : (
          <>
            It ends with <State of={outcome}>{said(outcome)}</State> after <strong>{lasting(0, seconds * 1000)}</strong>
            .
          </>
        )}{' '}
        {report?.reason}
      </p>
      <ul class="plain quiet">
        {assumptions.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
      {steps.length > 0 && (
        <Timeline
          lines={nodes.map((name) => ({ key: name, name }))}
          bars={steps.map((step) => barOf(step, momentAt))}
          page={Math.min(page, Math.floor((nodes.length - 1) / LINES_A_PAGE))}
          onPage={setPage}
          from={started_at}
          until={momentAt(seconds)}
          timeText={sinceStart}
        />
      )}
      <h3>What happens</h3>
      <Table
        label="What happens"
        rows={events}
        keyOf={(one) => `${one.at} ${one.text}`}
        columns={[
          ['After', (one) => clock(one.at), 'number'],
          ['What', (one) => one.text],
        ]}
      />
      {events_omitted > 0 && <p class="quiet">{count(events_omitted, 'more event')}.</p>}
      {report !== null && 'site' in report && <SiteReport of={report} />}
      {[report, of.software].map(
        (one) => one !== null && !('site' in one) && <GraphReports key={one.run_id} of={one} />,
      )}
    </>
  );
}

const barOf = ({ node, what, state, from, to }: RehearsalStep, momentAt: (after: number) => string): BarOf => ({
  line: node,
  label: what,
  status: state,
  from: momentAt(from),
  to: momentAt(to),
});

function SiteReport({ of: { baremetal, next_step } }: { readonly of: RunReport }) {
  return (
    <>
      <h3>Report</h3>
      {next_step && <p>Next: {next_step}.</p>}
      <Table
        label="Nodes in the report"
        rows={baremetal?.nodes ?? []}
        keyOf={(node) => node.name}
        empty="It reaches no node."
        columns={[
          ['Node', (node) => node.name, 'name'],
          ['Group', (node) => node.group ?? ''],
          ['State', (node) => <State of={node.state}>{said(node.state)}</State>],
          ['Reason', (node) => node.reason ?? ''],
        ]}
      />
    </>
  );
}

function GraphReports({ of: { graphs } }: { readonly of: GraphRunReport }) {
  return (
    <>
      <h3>Report of the graphs</h3>
      <Table
        label="Graphs in the report"
        rows={graphs}
        keyOf={(graph) => graph.type}
        empty="It runs no graph."
        columns={[
          ['Graph', (graph) => graph.type, 'name'],
          ['State', (graph) => <State of={graph.state}>{said(graph.state)}</State>],
          ['Tasks', (graph) => `${graph.done} of ${graph.total}`, 'number'],
          ['Reason', (graph) => graph.reason ?? ''],
          ['Failed', (graph) => some(graph.failed_tasks.map(({ task, node }) => `${task}@${node}`))],
        ]}
      />
    </>
  );
}

/** `0:12:30` after the start. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
