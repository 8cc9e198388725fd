import type { ComponentChildren } from 'preact';
import { partText, settingsText } from '../../core/version-text.ts';
import { type Answer, at, query } from '../kit/api.ts';
import { Detail, Loaded, NewTab, RunState, State } from '../kit/parts.tsx';
import { siteAt } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { Ago, Lasting } from '../kit/times.tsx';
import { type Counts, msOf, said, saidCounts, stateOf, sum, totalOf, worst } from '../kit/words.ts';
import { Behind, Missed } from './cluster-versions.tsx';
import { useCounts } from './run-grid.tsx';
import { Trend } from './trend.tsx';

type Node = Answer<'GET /nodes/:id'>;

interface OfNode {
  readonly node: Node;
}

/** Its machine, its agent and its versions, as entries of a list of details. */
export const NodeNow = ({ node }: OfNode) => (
  <>
    {node.site && <Machine site={node.site} name={node.name} />}
    {node.cluster && <Agent cluster={node.cluster} id={node.id} />}
    <Versions node={node} />
  </>
);

function Machine({ site, name }: { readonly site: string; readonly name: string }) {
  const { data, problem } = useData(at('GET /sites/:site/nodes/status', { params: { site } }), { every: 30_000 });
  const one = data?.nodes.find(({ node }) => node === name);
  if (problem !== undefined && data === undefined) return <Detail name="Machine">{problem.detail}</Detail>;
  if (data === undefined) return <Detail name="Machine">…</Detail>;
  if (one === undefined) return <Detail name="Machine">none: the newest documents do not have this node</Detail>;
  const about = [
    one.system_id && `MAAS ${one.system_id}`,
    one.power && `power ${one.power}`,
    one.zone && `zone ${one.zone}`,
    one.tags.length > 0 && `tags ${one.tags.join(', ')}`,
  ].filter(Boolean);
  return (
    <Detail name="Machine">
      <State of={one.status ?? 'unknown'}>{one.status ?? 'unknown to MAAS'}</State> {about.join(' · ')}{' '}
      {data.stale && (
        <span class="quiet">
          MAAS does not answer; seen <Ago of={one.seen_at} />
        </span>
      )}
    </Detail>
  );
}

function Agent({ cluster, id }: { readonly cluster: number; readonly id: number }) {
  const { data, problem } = useData(at('GET /agents', { query: { cluster_id: cluster } }), { every: 30_000 });
  const one = data?.find((agent) => agent.id === id);
  if (data === undefined) return <Detail name="Agent">{problem?.detail ?? '…'}</Detail>;
  if (one === undefined) return <Detail name="Agent">none</Detail>;
  return (
    <Detail name="Agent">
      <State of={one.online ? 'ok' : 'lost'}>{one.online ? 'online' : 'not there'}</State>{' '}
      {one.online ? (
        'takes tasks'
      ) : (
        <>
          its tasks would wait; start it with{' '}
          <code>
            sitewright agent serve --site {one.site} --node {one.node}
          </code>
        </>
      )}{' '}
      <NewTab at={one.temporal_url} />
    </Detail>
  );
}

function Versions({ node }: OfNode) {
  const params = node.cluster === null ? undefined : { id: node.cluster };
  const versions = useData(params === undefined ? null : at('GET /clusters/:id/versions', { params }), {
    again: listsChanged.value,
  });
  const drift = useData(node.site ? at('GET /sites/:site/drift', { params: { site: node.site } }) : null);
  const machine = drift.data?.nodes.find((one) => one.node === node.name);
  const own = versions.data?.nodes.find(({ id }) => id === node.id);
  if (own === undefined && machine?.revision == null && machine?.state !== 'drifted') return null;
  return (
    <Detail name="Versions">
      {own && (
        <>
          <Behind of={own} />{' '}
          {own.deployed && (
            <>
              {[own.deployed.release, ...own.deployed.plugins].map(partText).join(', ')}, settings{' '}
              {settingsText(own.deployed.settings)}, by <a href={`/runs/${own.deployed.run}`}>run {own.deployed.run}</a>{' '}
              <Ago of={own.deployed.at} />
            </>
          )}
          <Missed cluster={node.cluster!} nodes={[own]} />
        </>
      )}
      {machine?.revision != null && (
        <>
          {own && ' · '}
          <a href={`${siteAt(node.site ?? '')}?revision=${machine.revision}`}>revision {machine.revision}</a>, deployed{' '}
          <Ago of={machine.deployed_at} />
        </>
      )}
      {machine?.state === 'drifted' && (
        <>
          {' '}
          <State of="blocked">drifted</State>{' '}
          {machine.differences
            .map(({ what, deployed: was, now }) => `${what}: ${was ?? 'none'} → ${now ?? 'none'}`)
            .join('; ')}
        </>
      )}
    </Detail>
  );
}

/** So many runs of its cluster are searched for those on this node. */
const RUNS = 20;

type Run = Answer<'GET /runs'>['items'][number];

/** What a graph of a run did on a node. */
interface Part {
  readonly run: Run;
  readonly type: string;
  readonly counts: Counts;
}

/** The runs of the cluster of a node, with the tasks of all, and what graphs did on it; the newest first. */
function useRuns({ cluster, id }: Node) {
  const query = { label: `cluster:${cluster}`, limit: RUNS };
  const runs = useData(cluster === null ? null : at('GET /runs', { query }), { again: listsChanged.value });
  const counted = useCounts(runs.data?.items.filter((run) => run.cluster !== null));
  const parts = (counted.data ?? []).flatMap(([run, graphs]) =>
    graphs.flatMap(({ type, nodes: { [id]: counts = {} } }): Part[] =>
      sum(counts) === 0 ? [] : [{ run, type, counts }],
    ),
  );
  return { counted, parts };
}

const OnNode = ({ of }: { readonly of: Counts }) => <State of={worst(of)}>{saidCounts(of) || 'none'}</State>;

/** The last run of each graph on a node, the runs of its cluster, and what happened to it and when. */
export function NodePast({ node }: OfNode) {
  const { counted, parts } = useRuns(node);
  const newest = new Map<string, Part>();
  for (const one of parts) if (!newest.has(one.type)) newest.set(one.type, one);
  return (
    <>
      {node.cluster && (
        <Loaded from={counted}>
          {(runs) => (
            <>
              <h2>Last run of each graph</h2>
              <Table
                label="Last run of each graph"
                rows={[...newest.values()]}
                keyOf={({ type }) => type}
                empty="No graph has run on this node."
                columns={[
                  ['Graph', ({ type }) => type, 'name'],
                  [
                    'Run',
                    ({ run, type }) => (
                      <a href={`/runs/${run.id}${query({ node: node.id, graph: type })}`}>
                        {run.number === null ? said(run.kind) : `#${run.number}`}
                      </a>
                    ),
                  ],
                  ['Run ended as', ({ run }) => <RunState run={run} />],
                  [
                    'Tasks on this node',
                    ({ counts }) => <OnNode of={counts} />,
                    'wide',
                    ({ counts }) => saidCounts(counts),
                  ],
                  ['Started', ({ run }) => <Ago of={run.started_at} />, 'number', ({ run }) => msOf(run.started_at)],
                  ['Took', ({ run }) => <Lasting from={run.started_at} to={run.ended_at} />, 'number'],
                ]}
              />
              <h2>Runs of its cluster</h2>
              <Table
                label="Runs of its cluster"
                rows={runs}
                keyOf={([run]) => run.id}
                empty="No runs yet."
                columns={[
                  ['#', ([run]) => run.number ?? '', 'number'],
                  [
                    'Run',
                    ([run]) => <a href={`/runs/${run.id}${query({ node: node.id })}`}>{run.title ?? said(run.kind)}</a>,
                    'name',
                  ],
                  ['Outcome of the run', ([run]) => <RunState run={run} />],
                  [
                    'Tasks on this node',
                    ([, graphs]) => <OnNode of={totalOf(graphs.map(({ nodes }) => nodes[node.id] ?? {}))} />,
                    'wide',
                  ],
                  ['Started', ([run]) => <Ago of={run.started_at} />, 'number'],
                  ['Took', ([run]) => <Lasting from={run.started_at} to={run.ended_at} />, 'number'],
                ]}
              />
            </>
          )}
        </Loaded>
      )}
      <h2>What happened</h2>
      <Happened node={node} parts={parts} />
    </>
  );
}

interface Event {
  readonly at: string;
  readonly what: ComponentChildren;
}

const EVENTS = 30;

function Happened({ node, parts }: OfNode & { readonly parts: readonly Part[] }) {
  const again = listsChanged.value;
  const params = { site: node.site ?? '', node: node.name };
  const history = useData(
    node.site ? at('GET /sites/:site/nodes/:node/history', { params, query: { limit: EVENTS } }) : null,
    { again },
  );
  const audit = useData(at('GET /audit', { query: { target: `node/${node.id}`, limit: EVENTS } }), { again });
  const events: Event[] = [
    ...(history.data?.items ?? []).map(({ run, node: own }) => ({
      at: own.started_at ?? run.started_at,
      what: (
        <>
          <a href={`/runs/${run.id}${query({ node: node.name })}`}>{said(run.kind)}</a> of its site: {stateOf(own)}
          {own.reason ? `, ${own.reason}` : ''}
        </>
      ),
    })),
    ...parts.map(({ run, type, counts }) => ({
      at: run.started_at,
      what: (
        <>
          <a href={`/runs/${run.id}${query({ node: node.id, graph: type })}`}>graph {type}</a>: {saidCounts(counts)}
          {run.started_by ? `, started by ${run.started_by}` : ''}
        </>
      ),
    })),
    ...(audit.data?.items ?? []).map((one) => ({
      at: one.at,
      what: `${one.action} by ${one.actor}${one.reason ? `: ${one.reason}` : ''}`,
    })),
  ].sort((a, b) => msOf(b.at) - msOf(a.at));
  if (events.length === 0) return <p class="quiet">Nothing is recorded yet.</p>;
  const deployed = (history.data?.items ?? []).map(({ run, node: own }) => ({
    outcome: run.outcome === null ? null : own.state,
    from: own.started_at,
    to: own.ended_at,
    attempts: own.attempts,
  }));
  return (
    <>
      <Trend of={deployed} what="deployment" />
      <ol class="plain happened" aria-label="What happened">
        {events.slice(0, EVENTS).map((one) => (
          <li>
            <span class="quiet">
              <Ago of={one.at} />
            </span>
            <span>{one.what}</span>
          </li>
        ))}
      </ol>
    </>
  );
}
