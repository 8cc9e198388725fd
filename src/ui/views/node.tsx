import { pendingText, shownStatus } from '../../core/node-system.ts';
import { type Answer, at } from '../kit/api.ts';
import { type Crumb, Detail, Fold, NodeStanding, One, SiteLink, State } from '../kit/parts.tsx';
import { listsChanged, useData } from '../kit/store.ts';
import { Listed } from '../kit/table.tsx';
import { Ago, Lasting } from '../kit/times.tsx';
import { reasonOf, said } from '../kit/words.ts';

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
  return (
    <One
      of={`Node ${id}`}
      list={LIST}
      from={node}
      title={(one) => ({
        of: `Node ${one.name}`,
        children: (
          <>
            Node {one.name} <State of={shownStatus(one)} /> {!one.online && <State of="lost">offline</State>}
          </>
        ),
      })}
    >
      {(one) => (
        <>
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
            <Detail name="Id">{one.id}</Detail>
            <Detail name="Cluster">
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
            </Detail>
            <Detail name="Site">{one.site && <SiteLink of={one.site} />}</Detail>
            <Detail name="Roles">
              {one.roles.join(', ') || 'none'}
              {one.pending_roles.length > 0 ? `; the next deployment adds ${one.pending_roles.join(', ')}` : ''}
            </Detail>
            <Detail name="Tags">
              {one.tags.length === 0
                ? 'none'
                : one.tags.map((tag) => (
                    <Tag key={tag} name={tag} of={sources.get(tag)} primary={one.primary_tags.includes(tag)} />
                  ))}
            </Detail>
            <Detail name="Host name">{one.fqdn ?? one.hostname}</Detail>
            <Detail name="Address">{one.ip}</Detail>
            <Detail name="MAC">{one.mac && <code>{one.mac}</code>}</Detail>
            <Detail name="System">{one.os_platform}</Detail>
            <Detail name="Labels">
              {Object.keys(one.labels).length > 0 &&
                Object.entries(one.labels).map(([key, value]) => (
                  <span class="tag">
                    {key}={value}
                  </span>
                ))}
            </Detail>
            <NodeNow node={one} />
          </dl>
          <NodePast node={one} />
          {one.site && (
            <>
              <h2>Runs of its site</h2>
              <History site={one.site} node={one.name} />
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
    </One>
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
    <Listed
      from={runs}
      label="Runs of this node"
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
  );
}
