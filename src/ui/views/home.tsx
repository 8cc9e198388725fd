import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Run } from '../../core/contracts/runs.ts';
import { rolloutsIn } from '../../core/rollout/rollout-steps.ts';
import { subjectOf } from '../../core/run/subject.ts';
import { type Answer, at } from '../kit/api.ts';
import { useClusterNames } from '../kit/names.ts';
import { Loaded, SiteLink, State, Title } from '../kit/parts.tsx';
import { listsChanged, useData } from '../kit/store.ts';
import { Ago, Paused } from '../kit/times.tsx';
import { count, type Look, said, some } from '../kit/words.ts';
import { Fleet } from './fleet.tsx';
import { Decide, isOfGraphs, RetryFailed, Steer, SteerRollout } from './run-actions.tsx';
import { NoRun, nameOfRun, RunTable } from './runs.tsx';

/** So many newest runs tell how each site and cluster stands. */
const NEWEST = 200;
const FAILED: ReadonlySet<string | null> = new Set(['failed', 'success_with_failures', 'terminated', 'timed_out']);

/** What runs, what failed, what waits for whom, and what drifted. */
export function HomeView({ query }: { readonly query: URLSearchParams }) {
  const again = listsChanged.value;
  const open = useData(at('GET /runs', { query: { open: true, limit: 100 } }), { again });
  const ended = useData(at('GET /runs', { query: { open: false, limit: NEWEST } }), { again });
  const nodes = useData(at('GET /nodes', { query: { status: 'error' } }), { again });
  const sites = useData(at('GET /sites'), { again });
  const running = open.data?.items ?? [];
  const waiting = running.filter(waitsFor);
  const failed = stillFailed(ended.data?.items ?? [], running);
  return (
    <>
      <Title of="Home" />
      <Glance
        of={[
          ['failed', failed.length, 'bad', 'site or cluster failed', 'sites or clusters failed'],
          ['waiting', waiting.length, 'warn', 'run waits for someone', 'runs wait for someone'],
          ['running', running.length, 'busy', 'run is under way', 'runs are under way'],
        ]}
        isKnown={open.data !== undefined && ended.data !== undefined}
      />
      <div class="sides" style={{ '--least': '760px' }}>
        <Section name="Waiting for someone">
          <Waiting runs={waiting} />
        </Section>
        <Section name="Running">
          <Loaded from={open}>
            {({ items }) => (
              <RunTable
                runs={items}
                empty={ended.data?.items.length === 0 ? <NoRun /> : 'Nothing runs.'}
                actions={(run) => <Steer run={run} verb="stop" />}
              />
            )}
          </Loaded>
        </Section>
        <Section name="Failed">
          <Loaded from={ended}>
            {() => (
              <RunTable
                runs={failed}
                empty="No site or cluster ended with a failure."
                actions={(run) => <RetryFailed run={run} />}
              />
            )}
          </Loaded>
          {(nodes.data ?? []).length > 0 && (
            <p>
              <State of="error">{count(nodes.data?.length ?? 0, 'node')} in error</State>{' '}
              <a href="/nodes?status=error">{some((nodes.data ?? []).map(({ name }) => name))}</a>
            </p>
          )}
        </Section>
        {(sites.data?.items.length ?? 0) > 0 && (
          <Section name="Machines">
            <Fleet query={query} />
          </Section>
        )}
        <Section name="Drifted">
          <Loaded from={sites}>
            {({ items }) => (
              <Drift sites={items.filter((one) => one.last_good_revision !== null).map(({ name }) => name)} />
            )}
          </Loaded>
        </Section>
      </div>
    </>
  );
}

const Section = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <section aria-label={name} id={name.split(' ')[0]?.toLowerCase()}>
    <h2>{name}</h2>
    {children}
  </section>
);

/** For whom a run waits, and what ends that; undefined where it goes on by itself. */
function waitsFor(run: Run): string | undefined {
  if (run.awaiting_approval) return 'an operator who approves or rejects';
  if (run.held)
    return `an operator who ${isOfGraphs(run) ? 'retries or skips what failed, or promotes a rollout' : 'promotes or ends a rollout, or retries what failed'}`;
  return run.paused ? 'an operator who resumes it' : undefined;
}

function Waiting({ runs }: { readonly runs: readonly Run[] }) {
  const clusters = useClusterNames();
  if (runs.length === 0) return <p class="quiet">No run waits for anyone.</p>;
  return (
    <ul class="plain">
      {runs.map((run) => (
        <li key={run.id}>
          <a href={`/runs/${run.id}`}>{nameOfRun(run, clusters)}</a> waits for <strong>{waitsFor(run)}</strong>{' '}
          <Wait run={run} />
        </li>
      ))}
    </ul>
  );
}

/** Since when a run waits, by whom and why, as its status knows, and what ends that. */
function Wait({ run }: { readonly run: Run }) {
  const again = `${run.paused} ${run.held} ${run.awaiting_approval}`;
  const { data } = useData(at('GET /runs/:run/status', { params: { run: run.id } }), { again });
  return (
    <>
      {data && <Since run={run} status={data} />}{' '}
      <span class="actions">
        {(data?.awaiting_approval ?? []).map(({ before }) => (
          <Decide key={before} run={run} before={before} />
        ))}
        {run.paused && <Steer run={run} verb="resume" />}
        {data !== undefined &&
          rolloutsIn(data).map(
            ({ name, rollout }) =>
              rollout.state === 'held' && <SteerRollout key={name} run={run} group={name} of={rollout} />,
          )}
        {run.held && <RetryFailed run={run} />}
      </span>
    </>
  );
}

type Count = readonly [section: string, n: number, look: Look, one: string, many: string];

/** In one look: is anything wrong, does anything wait for someone, is anything under way. */
const Glance = ({ of, isKnown }: { readonly of: readonly Count[]; readonly isKnown: boolean }) => (
  <ul class="glance" aria-label="At a glance">
    {of.map(([section, n, look, one, many]) => (
      <li key={section} class={isKnown && n > 0 ? look : 'wait'}>
        <a href={`#${section}`}>
          <strong>{isKnown ? n : '…'}</strong> {n === 1 ? one : many}
        </a>
      </li>
    ))}
  </ul>
);

interface SinceProps {
  readonly run: Run;
  readonly status: Answer<'GET /runs/:run/status'>;
}

function Since({ run, status: { awaiting_approval: approvals = [], paused } }: SinceProps) {
  const [first] = approvals;
  if (first !== undefined)
    return (
      <span class="quiet">
        before {some(approvals.map(({ before }) => (before === '*' ? 'any change' : before)))}, since{' '}
        <Ago of={first.since} />
      </span>
    );
  if (!paused) return run.failure && <span class="bad">{run.failure}</span>;
  return (
    <span class="quiet">
      paused <Paused of={paused} />
    </span>
  );
}

/** The newest run of each site, and of each graph of a cluster, where it failed and nothing runs there now. */
function stillFailed(ended: readonly Run[], running: readonly Run[]): readonly Run[] {
  const keyOf = (run: Run): string => run.site ?? `${subjectOf(run)} ${run.title ?? ''}`;
  const seen = new Set(running.map(keyOf));
  return ended.filter((run) => {
    const subject = keyOf(run);
    // A test of a site changes nothing, so it mends nothing.
    if (seen.has(subject) || run.kind === 'test_site') return false;
    seen.add(subject);
    return FAILED.has(run.outcome);
  });
}

/** So many sites are compared at once: MAAS has to answer for each. */
const COMPARED = 8;

function Drift({ sites }: { readonly sites: readonly string[] }) {
  const [isAll, showAll] = useState(false);
  if (sites.length === 0) return <p class="quiet">No site is deployed yet.</p>;
  const shown = isAll ? sites : sites.slice(0, COMPARED);
  return (
    <>
      <ul class="plain">
        {shown.map((site) => (
          <DriftOf key={site} site={site} />
        ))}
      </ul>
      {shown.length < sites.length && (
        <button type="button" onClick={() => showAll(true)}>
          Compare {count(sites.length - shown.length, 'more site')}
        </button>
      )}
    </>
  );
}

function DriftOf({ site }: { readonly site: string }) {
  const { data, problem } = useData(at('GET /sites/:site/drift', { params: { site } }), { every: 120_000 });
  const changed = (data?.nodes ?? []).filter(({ state }) => state === 'drifted' || state === 'missing');
  return (
    <li>
      <SiteLink of={site} />{' '}
      {problem !== undefined ? (
        <span class="bad">{problem.detail}</span>
      ) : data === undefined ? (
        <span class="quiet">being compared with MAAS …</span>
      ) : changed.length === 0 ? (
        <span class="quiet">
          {count(data.nodes.filter(({ state }) => state === 'same').length, 'machine')} as deployed
        </span>
      ) : (
        <>
          <State of="blocked">{count(changed.length, 'node')} drifted</State>{' '}
          {some(
            changed.map(
              (one) =>
                `${one.node} (${
                  one.state === 'missing'
                    ? said('missing')
                    : some(
                        one.differences.map(({ what }) => what),
                        3,
                      )
                }${one.maintenance === undefined ? '' : '; in maintenance'})`,
            ),
          )}
        </>
      )}
    </li>
  );
}
