import { useState } from 'preact/hooks';
import { type Address, type Answer, at, type Problem as Refusal, send } from '../kit/api.ts';
import { Choice, Choices, isText, optionsOf, submitted } from '../kit/ask.tsx';
import { commandOf } from '../kit/command-text.ts';
import { forbidden } from '../kit/identity.ts';
import { fieldOf, textOf } from '../kit/own-data.ts';
import {
  Command,
  type Crumb,
  Empty,
  Findings,
  Fold,
  Loaded,
  One,
  Problem,
  SiteLink,
  State,
  say,
  Tabs,
  type View,
} from '../kit/parts.tsx';
import { requestIn } from '../kit/rehearsed.ts';
import { filterBy } from '../kit/router.ts';
import { listsChanged, problemOf, useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { count } from '../kit/words.ts';
import { ClusterNodes, type Node } from './cluster-nodes.tsx';
import { ClusterVersions } from './cluster-versions.tsx';
import { DeployChanges } from './deploy-changes.tsx';
import { GraphPicture } from './graph-picture.tsx';
import { GraphPlan } from './graph-plan.tsx';
import { RehearsalView } from './rehearsal.tsx';
import { RunGraphs } from './run-graphs.tsx';
import { RunGrid } from './run-grid.tsx';
import { pastOf, RunTable } from './runs.tsx';
import { Settings } from './settings.tsx';
import { SlowestTasks, Trend } from './trend.tsx';

const LIST: Crumb = ['/clusters', 'Clusters'];
const VIEWS: readonly View[] = [
  ['nodes', 'Nodes'],
  ['graphs', 'Graphs and plan'],
  ['runs', 'Runs'],
  ['versions', 'Versions'],
  ['settings', 'Plugins and settings'],
];

/** One cluster: checks, nodes with roles and tags, plan, graph, settings, runs. */
export function ClusterView({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const params = { id };
  const again = listsChanged.value;
  const cluster = useData(at('GET /clusters/:id', { params }), { again });
  const nodes = useData(at('GET /nodes', { query: { cluster_id: id } }), { again });
  const checks = useData(at('GET /clusters/:id/checks', { params }), { again });
  const tags = useData(at('GET /tags', { query: { cluster_id: id } }), { again });
  const releaseId = cluster.data?.release_id;
  const release = useData(releaseId === undefined ? null : at('GET /releases/:id', { params: { id: releaseId } }));
  const graphs = useData(at('GET /graphs/', { query: { clusters_ids: id, fetch_related: '1' } }), { again });
  const types = [...new Set((graphs.data ?? []).flatMap((one) => one.relations.map(({ type }) => type)))].sort();
  const type = query.get('type') ?? (types.includes('default') ? 'default' : types[0]);
  const rehearsed = requestIn(query);
  const wanted = query.has('plan') ? 'graphs' : query.has('settings') ? 'settings' : query.get('view');
  const view = VIEWS.find(([key]) => key === wanted)?.[0] ?? 'nodes';
  const reload = () => {
    nodes.reload();
    tags.reload();
    checks.reload();
  };
  return (
    <One
      of={`Cluster ${id}`}
      list={LIST}
      from={cluster}
      title={(own) => ({
        of: `Cluster ${own.name}`,
        actions: (
          <>
            <a class="button" href={`/clusters/${id}?rehearse=1`} aria-label={`Rehearse the changes of ${own.name}`}>
              Rehearse
            </a>
            <DeployChanges
              key={`changes ${query.get('rehearse')}`}
              id={Number(id)}
              locked={own.is_locked}
              nodes={nodes.data ?? []}
              rehearsed={rehearsed}
              isMain={view !== 'settings'}
            />
            <RunGraphs
              key={`graphs ${query.get('rehearse')}`}
              given={rehearsed}
              id={Number(id)}
              types={types}
              type={type}
              locked={own.is_locked}
              nodes={nodes.data ?? []}
            />
          </>
        ),
        children: (
          <>
            Cluster {own.name} <State of={own.status} />
            {own.is_locked && (
              <>
                {' '}
                <State of="running">a run is in progress</State>
              </>
            )}
          </>
        ),
      })}
    >
      {(own) => (
        <>
          <Facts cluster={own} release={release.data} />
          <Loaded from={checks}>{(data) => <Checks of={data} />}</Loaded>
          {query.has('rehearse') && (
            <RehearsalView
              key={query.get('rehearse')}
              of={{ cluster: Number(id) }}
              request={rehearsed}
              nameOf={(node) => nodes.data?.find((one) => String(one.id) === node)?.name ?? node}
            />
          )}
          <Tabs
            views={VIEWS}
            current={view}
            clears={{ plan: '', settings: '', as: '', name: '', page: '', rehearse: '' }}
          />
          {view === 'nodes' && (
            <>
              <Loaded from={nodes}>
                {(all) => (
                  <ClusterNodes
                    cluster={id}
                    query={query}
                    nodes={all}
                    tags={(tags.data ?? []).map((one) => one.name)}
                    onDone={reload}
                  />
                )}
              </Loaded>
              <Fold label="Add nodes to the cluster" open={query.has('take')}>
                {() => <FreeNodes cluster={id} onDone={reload} />}
              </Fold>
            </>
          )}
          {view === 'graphs' && (
            <Graphs cluster={id} query={query} types={types} type={type} name={own.name} nodes={nodes.data ?? []} />
          )}
          {view === 'runs' && <ClusterRuns id={id} />}
          {view === 'versions' && <ClusterVersions id={id} onDone={cluster.reload} />}
          {view === 'settings' && (
            <>
              <h2>Plugins</h2>
              <Plugins cluster={id} onDone={reload} />
              <h2>Settings</h2>
              <Settings cluster={id} as={query.get('as')} />
            </>
          )}
        </>
      )}
    </One>
  );
}

interface GraphsProps {
  readonly cluster: string;
  readonly query: URLSearchParams;
  readonly types: readonly string[];
  readonly type: string | undefined;
  readonly name: string;
  readonly nodes: readonly Node[];
}

/** A graph of the cluster: its plan, and its drawing. */
const Graphs = ({ cluster, query, types, type, name, nodes }: GraphsProps) => (
  <>
    <div class="filters">
      <Choice label="Type" value={type} options={optionsOf(types)} onChange={(value) => filterBy({ type: value })} />
      {type && (
        <a
          href={at('GET /clusters/:id/deployment_tasks/', { params: { id: cluster }, query: { graph_type: type } })}
          download={`${name}-${type}.json`}
        >
          Download the merged tasks
        </a>
      )}
    </div>
    {type ? (
      <>
        <Fold label="Plan of a run started now" open={query.has('plan')}>
          {() => <GraphPlan cluster={cluster} type={type} nodes={nodes} />}
        </Fold>
        <Fold label="Drawing of the merged graph">
          {() => (
            <GraphPicture
              address={at('GET /clusters/:id/deploy_tasks/graph.svg', {
                params: { id: cluster },
                query: { graph_type: type },
              })}
            />
          )}
        </Fold>
      </>
    ) : (
      <Empty title="No graphs yet.">
        <p>They come with releases and plugins, or from a file:</p>
        <Command text={commandOf(['graph', 'upload', '--cluster', cluster, '--type', 'default', '--file', 'FILE'])} />
      </Empty>
    )}
  </>
);

interface FactsProps {
  readonly cluster: Answer<'GET /clusters/:id'>;
  readonly release: Answer<'GET /releases/:id'> | undefined;
}

const Facts = ({ cluster, release }: FactsProps) => (
  <p class="facts">
    {`release ${release ? `${release.name} ${release.version}` : cluster.release_id} · `}
    {cluster.site && (
      <>
        site <SiteLink of={cluster.site} />
        {' · '}
      </>
    )}
    <a href={`/tags?owner=cluster/${cluster.id}`}>its tags</a>
  </p>
);

const Checks = ({ of }: { readonly of: Answer<'GET /clusters/:id/checks'> }) =>
  of.findings.length === 0 ? (
    <p class="facts">
      <State of="ok">ready for a run</State>
    </p>
  ) : (
    <Findings label="Checks" of={of.findings} isMild={of.ok} />
  );

/** An empty id: nodes in no cluster. */
const FREE = `${at('GET /nodes')}?cluster_id=` as Address<'GET /nodes'>;

interface ChangeProps {
  readonly cluster: string;
  readonly onDone: () => void;
}

function FreeNodes({ cluster, onDone }: ChangeProps) {
  const params = { id: cluster };
  const free = useData(FREE);
  const roles = useData(at('GET /clusters/:id/roles', { params }));
  const [problem, setProblem] = useState<Refusal>();
  const why = forbidden('operator');
  const assign = async (filled: HTMLFormElement): Promise<void> => {
    const form = new FormData(filled);
    const [nodes, chosen] = [form.getAll('node'), form.getAll('role').filter(isText)];
    if (nodes.length === 0)
      return setProblem({ detail: 'No nodes selected.', hint: 'Select at least one, and its roles.' });
    try {
      const body = nodes.map((one) => ({ id: Number(one), roles: chosen }));
      await send('POST /clusters/:id/assignment', { params, body });
      setProblem(undefined);
      say(`${count(nodes.length, 'node')} added.`);
      free.reload();
      onDone();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Loaded from={free}>
      {(nodes) =>
        nodes.length === 0 ? (
          <p class="quiet">
            No free nodes. Register some, or deploy a site: see <a href="/nodes">nodes</a>.
          </p>
        ) : (
          <form onSubmit={submitted(assign)} class="card">
            <Choices
              name="node"
              label="Nodes"
              options={nodes.map((one) => [String(one.id), one.site ? `${one.name} (${one.site})` : one.name])}
            />
            <Choices name="role" label="Roles" options={optionsOf((roles.data ?? []).map(({ name }) => name))} />
            <Problem of={problem} />
            {why && <p class="quiet">{why}</p>}
            <button type="submit" disabled={why !== undefined}>
              Assign
            </button>
          </form>
        )
      }
    </Loaded>
  );
}

function ClusterRuns({ id }: { readonly id: string }) {
  const runs = useData(at('GET /runs', { query: { label: `cluster:${id}`, limit: 20 } }), {
    again: listsChanged.value,
  });
  return (
    <Loaded from={runs}>
      {({ items, next }) => (
        <>
          <Trend of={items.map(pastOf)} what="run" />
          <RunTable
            runs={items}
            empty="No runs yet: run a graph above."
            next={commandOf(['graph', 'execute', '--cluster', id])}
          />
          {next !== null && (
            <p>
              <a href={`/runs?cluster=${id}`}>Show all runs of this cluster</a>
            </p>
          )}
          <SlowestTasks cluster={id} />
          <RunGrid runs={items.filter(({ cluster }) => cluster !== null)} />
        </>
      )}
    </Loaded>
  );
}

/** Plugins that fit the cluster, each with a button that enables or disables it. */
function Plugins({ cluster, onDone }: ChangeProps) {
  const params = { id: cluster };
  const settings = useData(at('GET /clusters/:id/attributes', { params }));
  const [problem, setProblem] = useState<Refusal>();
  const why = forbidden('operator');
  const set = async (name: string, enabled: boolean): Promise<void> => {
    if (why !== undefined) return say(why);
    try {
      const body = { editable: { [name]: { metadata: { enabled } } } };
      await send('PATCH /clusters/:id/attributes', { params, body });
      setProblem(undefined);
      say(`${name} ${enabled ? 'enabled' : 'disabled'}.`);
      settings.reload();
      onDone();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Loaded from={settings}>
      {({ editable }) => (
        <>
          <Table
            label="Plugins"
            rows={pluginsIn(editable)}
            keyOf={({ name }) => name}
            empty="No installed plugin fits its release."
            columns={[
              [
                'Plugin',
                ({ name, label }) => (
                  <>
                    <strong>{name}</strong> {label}
                  </>
                ),
              ],
              [
                'State',
                ({ enabled }) => <State of={enabled ? 'ok' : 'skipped'}>{enabled ? 'enabled' : 'disabled'}</State>,
              ],
              [
                '',
                ({ name, enabled }) => (
                  <button
                    type="button"
                    title={why}
                    aria-disabled={why === undefined ? undefined : 'true'}
                    onClick={() => void set(name, !enabled)}
                  >
                    {enabled ? 'Disable' : 'Enable'}
                  </button>
                ),
              ],
            ]}
          />
          <Problem of={problem} />
        </>
      )}
    </Loaded>
  );
}

/** Groups of settings that are plugins. */
const pluginsIn = (editable: object) =>
  Object.entries(editable).flatMap(([name, group]) => {
    const metadata = fieldOf(group, 'metadata');
    if (fieldOf(metadata, 'class') !== 'plugin') return [];
    return [{ name, label: textOf(fieldOf(metadata, 'label')), enabled: fieldOf(metadata, 'enabled') === true }];
  });
