import { pendingText, shownStatus } from '../../../core/node-system.ts';
import { type Answer, at, query } from '../api.ts';
import { type Crumb, Fold, Loaded, Missing, NodeStanding, RunState, State, Title } from '../parts.tsx';
import { listsChanged, useData } from '../store.ts';
import { Table } from '../table.tsx';
import { Ago, Lasting } from '../times.tsx';
import { reasonOf, said, TASK_STATUSES, totalOf } from '../words.ts';

import { InMaintenance, Maintenance } from './maintenance.tsx';
import { NodeNow, NodePast } from './node-now.tsx';

const LIST: Crumb = ['/nodes', 'Nodes'];

/** One node: its roles, its hardware, and its results in runs. */
export function NodeView({ id }: { readonly id: string }) {
  const again = listsChanged.value;
  const node = useData(at('GET /nodes/:id', { params: { id } }), { again });
  const params = node.data?.cluster ? { id: node.data.cluster } : undefined;
  const cluster = useData(params === undefined ? null : at('GET /clusters/:id', { params }));
  const assigned = useData(params === undefined ? null : at('GET /clusters/:id/tag_assignments', { params }), {
    again,
  });
  const sources = new Map(
    (assigned.data ?? []).filter((one) => one.node_id === Number(id)).map((one) => [one.tag, one]),
  );
  if (node.data === undefined && node.problem !== undefined)
    return <Missing of={`Node ${id}`} problem={node.problem} list={LIST} onRetry={node.reload} />;
  return (
    <Loaded from={node}>
      {(one) => (
        <>
          <Title of={`Node ${one.name}`} trail={[LIST]}>
            Node {one.name} <State of={shownStatus(one)} /> {!one.online && <State of="lost">offline</State>}
          </Title>
          <div class="facts">
            <InMaintenance of={one.maintenance} />{' '}
            <Maintenance
              of={{ id: one.id }}
              name={one.name}
              now={one.maintenance}
              hasMachine={one.site !== null}
              onDone={() => listsChanged.value++}
            />
          </div>
          {one.error_msg && <p class="problem">{one.error_msg}</p>}
          <dl class="details">
            <dt>Id</dt>
            <dd>{one.id}</dd>
            <dt>Cluster</dt>
            <dd>
              {one.cluster ? (
                <>
                  <a href={`/clusters/${one.cluster}`}>{cluster.data?.name ?? one.cluster}</a>
                  {pendingText(one) && `, ${pendingText(one)}`}
                </>
              ) : (
                <>
                  none; add it to a <a href="/clusters">cluster</a>
                </>
              )}
            </dd>
            {one.site && (
              <>
                <dt>Site</dt>
                <dd>
                  <a href={`/sites/${encodeURIComponent(one.site)}`}>{one.site}</a>
                </dd>
              </>
            )}
            <dt>Roles</dt>
            <dd>
              {one.roles.join(', ') || 'none'}
              {one.pending_roles.length > 0 ? `; the next deployment adds ${one.pending_roles.join(', ')}` : ''}
            </dd>
            <dt>Tags</dt>
            <dd>
              {one.tags.length === 0
                ? 'none'
                : one.tags.map((tag) => (
                    <Tag key={tag} name={tag} of={sources.get(tag)} primary={one.primary_tags.includes(tag)} />
                  ))}
            </dd>
            <dt>Host name</dt>
            <dd>{one.fqdn ?? one.hostname ?? ''}</dd>
            {one.ip && (
              <>
                <dt>Address</dt>
                <dd>{one.ip}</dd>
              </>
            )}
            {one.mac && (
              <>
                <dt>MAC</dt>
                <dd>
                  <code>{one.mac}</code>
                </dd>
              </>
            )}
            {one.os_platform && (
              <>
                <dt>System</dt>
                <dd>{one.os_platform}</dd>
              </>
            )}
            {Object.keys(one.labels).length > 0 && (
              <>
                <dt>Labels</dt>
                <dd>
                  {Object.entries(one.labels).map(([key, value]) => (
                    <span class="tag">
                      {key}={value}
                    </span>
                  ))}
                </dd>
              </>
            )}
            <NodeNow node={one} />
          </dl>
          <NodePast node={one} />
          {one.site && (
            <>
              <h2>Runs of its site</h2>
              <History site={one.site} node={one.name} />
            </>
          )}
          {one.cluster && (
            <>
              <h2>Runs of its cluster</h2>
              <ClusterHistory cluster={one.cluster} node={one.id} />
            </>
          )}
          <h2>Hardware</h2>
          <Fold label="Disks, interfaces and facts as JSON">
            {() => (
              <pre tabindex={0}>{JSON.stringify({ meta: one.meta, network_data: one.network_data }, null, 2)}</pre>
            )}
          </Fold>
        </>
      )}
    </Loaded>
  );
}

interface TagProps {
  readonly name: string;
  readonly of: Answer<'GET /clusters/:id/tag_assignments'>[number] | undefined;
  readonly primary: boolean;
}

const Tag = ({ name, of, primary }: TagProps) => (
  <span class="tag" title={of === undefined ? undefined : of.role ? `from role ${of.role}` : `from ${of.source}`}>
    {name}
    {primary ? <span aria-label=", primary">★</span> : ''}
  </span>
);

function History({ site, node }: { readonly site: string; readonly node: string }) {
  const address = at('GET /sites/:site/nodes/:node/history', { params: { site, node }, query: { limit: 20 } });
  const runs = useData(address, { again: listsChanged.value });
  return (
    <Loaded from={runs}>
      {({ items }) => (
        <Table
          label="Runs of this node"
          rows={items}
          keyOf={(one) => one.run.id}
          empty="No runs yet."
          columns={[
            [
              'Run',
              (one) => <a href={`/runs/${one.run.id}?node=${encodeURIComponent(node)}`}>{said(one.run.kind)}</a>,
              'name',
            ],
            ['State', ({ node: one }) => <NodeStanding of={one} />],
            ['Group', ({ node: one }) => one.group ?? ''],
            ['Tries', ({ node: one }) => one.attempts || '', 'number'],
            ['Started', ({ node: one }) => <Ago of={one.started_at} />, 'number'],
            ['Took', ({ node: one }) => <Lasting from={one.started_at} to={one.ended_at} />, 'number'],
            ['Reason', ({ node: one }) => reasonOf(one), 'wide'],
          ]}
        />
      )}
    </Loaded>
  );
}

/** Runs of graphs on its cluster, with its own tasks in each. */
function ClusterHistory({ cluster, node }: { readonly cluster: number; readonly node: number }) {
  const address = at('GET /runs', { query: { label: `cluster:${cluster}`, limit: 10 } });
  const runs = useData(address, { again: listsChanged.value });
  return (
    <Loaded from={runs}>
      {({ items }) => (
        <Table
          label="Runs of its cluster"
          rows={items.filter(({ cluster }) => cluster !== null)}
          keyOf={(run) => run.id}
          empty="No runs yet."
          columns={[
            ['#', (run) => run.number ?? '', 'number'],
            ['Run', (run) => <a href={`/runs/${run.id}${query({ node })}`}>{run.title ?? said(run.kind)}</a>, 'name'],
            ['Outcome of the run', (run) => <RunState run={run} />],
            ['Tasks on this node', (run) => <OwnTasks run={run} node={node} />, 'wide'],
            ['Started', (run) => <Ago of={run.started_at} />, 'number'],
            ['Took', (run) => <Lasting from={run.started_at} to={run.ended_at} />, 'number'],
          ]}
        />
      )}
    </Loaded>
  );
}

function OwnTasks({ run, node }: { readonly run: Answer<'GET /runs'>['items'][number]; readonly node: number }) {
  const address = at('GET /runs/:run/counts', { params: { run: run.id } });
  const { data } = useData(address, { again: run.outcome ?? run.done });
  if (data === undefined) return <span class="quiet">…</span>;
  const counts = totalOf(data.graphs.map(({ nodes }) => nodes[node] ?? {}));
  const found = TASK_STATUSES.filter((status) => (counts[status] ?? 0) > 0);
  if (found.length === 0) return <span class="quiet">none on this node</span>;
  return found.map((status) => (
    <>
      <State key={status} of={status}>
        {counts[status]} {said(status)}
      </State>{' '}
    </>
  ));
}
