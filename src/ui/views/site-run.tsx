import { useState } from 'preact/hooks';
import type { RunFrame } from '../../core/contracts/run-tasks.ts';
import type { RunStatus } from '../../core/contracts/site-run.ts';
import type { NodeReport, RunReport } from '../../core/contracts/site-run-report.ts';
import { rolloutsIn } from '../../core/rollout/rollout-steps.ts';
import { causesOfNodes } from '../../core/run/causes.ts';
import { CALLS, type NodeState } from '../../core/words.ts';
import { at, send } from '../kit/api.ts';
import { Action, Choice, Filters, type Given, Search } from '../kit/ask.tsx';
import { commandOf } from '../kit/command-text.ts';
import { keyOfCall, lastOfCalls, timesOfCall } from '../kit/critical-path.ts';
import { Causes, NewTab, NodeCells, NodeStanding, State, Tabs, type View } from '../kit/parts.tsx';
import { fieldsOf, filterBy } from '../kit/router.ts';
import { useData } from '../kit/store.ts';
import { Chosen, type Column, Table, useSelection } from '../kit/table.tsx';
import { Lasting } from '../kit/times.tsx';
import { count, isUntouched, lookOfNode, msOf, reasonOf, said, some, stateOf, UNTOUCHED } from '../kit/words.ts';
import { GroupDrawing, type SiteGroup } from './group-drawing.tsx';
import { Commit } from './revisions.tsx';
import { PermitWaits, Rollouts } from './run-actions.tsx';
import { type BarOf, Timeline } from './timeline.tsx';

const VIEWS: readonly View[] = [
  ['nodes', 'Nodes'],
  ['timeline', 'Timeline'],
];

interface SiteRunProps {
  readonly tables: RunFrame;
  readonly status: RunStatus;
  readonly query: URLSearchParams;
}

/** A run on a site: phases, a drawing of its groups, nodes with their results or times; all of one moment. */
export function SiteRun({ tables, status, query }: SiteRunProps) {
  const { run, report } = tables;
  const groups = Object.values(tables.site_groups ?? {});
  const nodes = Object.values(tables.nodes ?? {});
  const view = query.get('view') === 'timeline' ? 'timeline' : 'nodes';
  const node = query.get('node') ?? '';
  const failed = nodes.filter(({ state }) => state === 'failed').length;
  return (
    <>
      {run.outcome === null && <Rollouts tables={tables} of={rolloutsIn(status)} />}
      {run.outcome === null && <PermitWaits of={status.waits} />}
      {run.outcome === null && <Now nodes={nodes} />}
      <Causes of={causesOfNodes(nodes)} what="node" />
      <div class="sides">
        <div>
          <NodeCells cells={nodes.map(cellOf)} failed={failed > 0 ? `${failed} failed` : ''} chosen={node} />
          {report?.commit && (
            <p class="facts">
              Commit <Commit id={report.commit} url={report.commit_url} />
            </p>
          )}
          {report && <Phases phases={report.phases} />}
          {groups.length > 0 && (
            <GroupDrawing groups={groups} status={status} nodes={nodes} chosen={query.get('group')} />
          )}
        </div>
        <div>
          <Tabs views={VIEWS} current={view} />
          {view === 'nodes' ? (
            <NodeTable run={run} rows={nodes} groups={groups} query={query} />
          ) : (
            <Bars nodes={nodes.filter(({ name }) => name.includes(node))} groups={groups} run={run} />
          )}
        </div>
      </div>
    </>
  );
}

/** What it does now, or waits for, in one sentence. */
function Now({ nodes }: { readonly nodes: readonly NodeReport[] }) {
  const working = Map.groupBy(
    nodes.filter(({ running }) => running !== undefined),
    ({ running, group }) => `${said(running ?? '')}${group === undefined ? '' : ` of group ${group}`}`,
  );
  return [...working].map(([what, of]) => (
    <p class="facts" key={what}>
      Now: <strong>{what}</strong>: {count(of.length, 'node')} running.{' '}
      <span class="quiet">Waiting for {some(of.map(({ name }) => name))}.</span>
    </p>
  ));
}

const tookOf = ({ started_at: start, ended_at: end }: NodeReport): number | undefined =>
  start === undefined ? undefined : (end === undefined ? Date.now() : msOf(end)) - msOf(start);

/** The current step, or the one that failed. */
const stepOf = (one: NodeReport) => one.running ?? one.failed_in;

interface BarsProps {
  readonly nodes: readonly NodeReport[];
  readonly groups: readonly SiteGroup[];
  readonly run: RunFrame['run'];
}

/** Nodes by group and start, each with its preparation and its deployment. */
function Bars({ nodes, groups, run }: BarsProps) {
  const [page, setPage] = useState(0);
  const usual = useData(at('GET /runs/:run/usual', { params: { run: run.id } })).data?.seconds ?? {};
  const startOf = ({ calls: [first] }: SiteGroup): string => first?.started_at ?? '';
  const order = [...groups]
    .sort((a, b) => Number(startOf(a) > startOf(b)) - Number(startOf(a) < startOf(b)))
    .map(({ name }) => name);
  const lines = nodes
    .filter(({ started_at: start }) => start !== undefined)
    .map(({ name, group, started_at: start = '' }) => ({ key: name, name, group, start }))
    .sort((a, b) => order.indexOf(a.group ?? '') - order.indexOf(b.group ?? '') || (a.start < b.start ? -1 : 1));
  const critical = lastOfCalls(nodes);
  const barsOf = (node: NodeReport): BarOf[] => {
    const calls = new Map(groups.find(({ name }) => name === node.group)?.calls.map((one) => [one.call, one]));
    return CALLS.flatMap((call): BarOf[] => {
      const { from, to } = timesOfCall(node, call);
      if (!from || (to === undefined && node.running === undefined)) return [];
      const isFirst = call === 'prepare';
      const isFailed = node.failed_in === call;
      return [
        {
          ...{ line: node.name, label: call, name: call, from, to },
          status: to === undefined ? stateOf(node) : isFailed ? 'failed' : isFirst ? 'prepared' : node.state,
          look: isFirst && to && !isFailed && node.ended_at ? 'ok first' : undefined,
          since: isFirst ? calls.get(call)?.started_at : node.prepared_at,
          usual: isFirst ? usual[node.name] : undefined,
          isCritical: critical.has(keyOfCall(node.name, call)),
        },
      ];
    });
  };
  return (
    <>
      <Timeline
        lines={lines}
        bars={nodes.flatMap((node) => (node.group === undefined ? barOf(node) : barsOf(node)))}
        page={page}
        onPage={setPage}
        from={run.started_at}
        until={run.ended_at}
      />
      {critical.size > 0 && <p class="quiet">Framed: the last one of each step of a group; the rest waited for it.</p>}
    </>
  );
}

/** Of a node that is only released: one bar. */
const barOf = (one: NodeReport): BarOf => ({
  line: one.name,
  label: one.running === undefined ? `${said(stepOf(one) ?? '')} ${said(one.state)}` : stateOf(one),
  status: one.running === undefined ? one.state : stateOf(one),
  from: one.started_at,
  to: one.ended_at,
});

const cellOf = (one: NodeReport) => ({
  key: one.name,
  name: one.name,
  look: lookOfNode(one),
  note: stateOf(one),
  text: `${one.name}: ${stateOf(one)}${reasonOf(one) && `, ${reasonOf(one)}`}`,
});

const Phases = ({ phases }: { readonly phases: RunReport['phases'] }) => (
  <ol class="phases" aria-label="Phases">
    {phases.map((one) => (
      <li key={one.name} title={one.detail}>
        <State of={one.state}>{said(one.name)}</State>
        <span class="quiet">
          <Lasting from={one.started_at} to={one.ended_at} />
        </span>
      </li>
    ))}
  </ol>
);

const keyOfState = (one: NodeReport): string =>
  one.running !== undefined ? 'running' : isUntouched(one) ? 'untouched' : one.state;

const RANK: Readonly<Record<NodeState, number>> = { failed: 0, prepared: 1, waiting: 2, not_reached: 3, success: 4 };

const inTemporal = (run: string): Column<NodeReport> => [
  'Temporal',
  ({ name: node, attempts }) =>
    attempts > 0 && <NewTab at={at('GET /runs/:run/nodes/:node/temporal', { params: { run, node } })}>Show</NewTab>,
];

interface NodeTableProps {
  readonly run: RunFrame['run'];
  readonly rows: readonly NodeReport[];
  readonly groups: readonly SiteGroup[];
  readonly query: URLSearchParams;
}

function NodeTable({ run: { id, outcome, temporal_url }, rows, groups, query }: NodeTableProps) {
  const live = outcome === null;
  const [group, state, name] = fieldsOf(query, ['group', 'state', 'node']);
  // One that has not begun is not in a group yet, and may be of several.
  const groupsOf = ({ name, group }: NodeReport): readonly string[] =>
    group === undefined ? groups.flatMap((one) => (one.nodes.includes(name) ? one.name : [])) : [group];
  const wanted = rows
    .filter((one) => (group === '' || groupsOf(one).includes(group)) && (state === '' || keyOfState(one) === state))
    .filter((one) => one.name.includes(name))
    .sort(
      (a, b) =>
        RANK[a.state] - RANK[b.state] || Number(isUntouched(a)) - Number(isUntouched(b)) || (a.name < b.name ? -1 : 1),
    );
  const selection = useSelection(wanted, {
    keyOf: (one) => one.name,
    nameOf: (one) => one.name,
    isChoosable: (one) => live && one.state === 'failed',
  });
  const retry = (node: string, { note }: Given) =>
    send('POST /runs/:run/nodes/:node/retry', { params: { run: id, node }, body: note });
  return (
    <>
      <Filters label="Filter nodes" of={['group', 'state', 'node']}>
        <Search label="Node" value={name} onChange={(text) => filterBy({ node: text, page: '' })} />
        <Choice
          label="State"
          value={state}
          options={[
            ['', 'all'],
            ['failed', 'failed'],
            ['running', 'running'],
            ['waiting', 'waiting'],
            ['not_reached', 'not reached'],
            ['prepared', 'prepared'],
            ['success', 'success'],
            ['untouched', UNTOUCHED],
          ]}
          onChange={(value) => filterBy({ state: value, page: '' })}
        />
        {group !== '' && <span class="tag">group {group}</span>}
        <span class="quiet">{count(wanted.length, 'node')}</span>
      </Filters>
      <Chosen selection={selection} what="node">
        <Action
          label="Retry selected"
          explain="Retries these nodes while the run continues; their groups are evaluated again."
          preview={() => <p>{some(selection.names, 30)}</p>}
          act={(given) => selection.each((one) => retry(one.name, given))}
          done="Retrying the nodes."
        />
      </Chosen>
      <Table
        label="Nodes"
        selection={live && wanted.some((one) => one.state === 'failed') ? selection : undefined}
        rows={wanted}
        keyOf={(one) => one.name}
        empty="No nodes match."
        columns={[
          ['Node', (one) => one.name, 'name'],
          ['State', (one) => <NodeStanding of={one} />, undefined, stateOf],
          ['Group', (one) => groupsOf(one).join(', ')],
          ['Step', (one) => said(stepOf(one) ?? '')],
          ['Tries', (one) => one.attempts || '', 'number'],
          ...(temporal_url === null ? [] : [inTemporal(id)]),
          ['Took', (one) => <Lasting from={one.started_at} to={one.ended_at} />, 'number', (one) => tookOf(one)],
          [
            'Reason',
            (one) => (
              <>
                {reasonOf(one)} <span class="quiet">{one.hint ?? ''}</span>
              </>
            ),
            'wide',
          ],
          [
            '',
            (one) =>
              live &&
              one.state === 'failed' && (
                <Action
                  label="Retry"
                  title={`Retry ${one.name}`}
                  explain="Retries the node while its run continues; its group is evaluated again."
                  act={(given) => retry(one.name, given)}
                  command={(given) => commandOf(['run', 'retry', id, one.name], given)}
                  done={`Retrying ${one.name}.`}
                />
              ),
            'actions',
          ],
        ]}
      />
    </>
  );
}
