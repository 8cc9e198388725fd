import { gapsText, partText, runMissed, settingsText } from '../../core/version-text.ts';
import { type Answer, at, send } from '../kit/api.ts';
import { Action, type Given, Planned } from '../kit/ask.tsx';
import { Command, Detail, Findings, Loaded, State } from '../kit/parts.tsx';
import { type Loading, listsChanged, useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { Ago } from '../kit/times.tsx';
import { SettingChanges } from './setting-changes.tsx';

type Versions = Answer<'GET /clusters/:id/versions'>;
type NodeVersions = Versions['nodes'][number];
type Move = Answer<'GET /clusters/:id/move'>;

/** What a cluster is built of, which node has it, and the move to another version and back. */
export function ClusterVersions({ id, onDone }: { readonly id: string; readonly onDone: () => void }) {
  const versions = useData(at('GET /clusters/:id/versions', { params: { id } }), { again: listsChanged.value });
  return (
    <Loaded from={versions}>
      {(all) => (
        <>
          <dl class="details">
            <Detail name="Release">{partText(all.release)}</Detail>
            <Detail name="Plugins">{all.plugins.map(partText).join(', ')}</Detail>
            <Detail name="Settings">{settingsText(all.settings)}</Detail>
            <Detail name="Also installed">{all.others.map(partText).join(', ')}</Detail>
          </dl>
          <div class="filters">
            <MoveTo id={id} versions={all} onDone={onDone} />
          </div>
          <Table
            label="Versions of nodes"
            rows={all.nodes}
            keyOf={(one) => String(one.id)}
            empty="No nodes yet."
            columns={[
              ['Node', (one) => <a href={`/nodes/${one.id}`}>{one.name}</a>, 'name', ({ name }) => name],
              ['State', (one) => <Behind of={one} />, 'wide', ({ behind }) => gapsText(behind)],
              ['Release', ({ deployed }) => deployed && partText(deployed.release)],
              ['Plugins', ({ deployed }) => deployed?.plugins.map(partText).join(', ')],
              ['Settings', ({ deployed }) => deployed && settingsText(deployed.settings)],
              ['Documents', ({ revision }) => revision ?? '', 'number'],
              ['Deployed', ({ deployed }) => deployed && <Ago of={deployed.at} />, 'number'],
            ]}
          />
          <Missed cluster={all.cluster} nodes={all.nodes} />
        </>
      )}
    </Loaded>
  );
}

interface MissedProps {
  readonly cluster: number;
  readonly nodes: readonly Pick<NodeVersions, 'id' | 'name' | 'missed'>[];
}

/** Tasks that have changed and have not run, with the command that runs just these. */
export function Missed({ cluster, nodes }: MissedProps) {
  const left = nodes.filter(({ missed }) => missed.length > 0);
  if (left.length === 0) return null;
  return (
    <section aria-label="Changed tasks that have not run">
      <h3>Changed tasks that have not run</h3>
      <ul class="plain">
        {left.flatMap(({ name, missed }) =>
          missed.map(({ task, why }) => (
            <li>
              <strong>{task}</strong> on {name} <span class="quiet">{why}</span>
            </li>
          )),
        )}
      </ul>
      <Command
        text={runMissed(
          cluster,
          left.flatMap(({ missed }) => missed),
          nodes.length === 1 ? nodes[0]!.id : undefined,
        )}
      />
    </section>
  );
}

/** Whether a node has what its cluster is built of. */
export const Behind = ({ of: { behind } }: { readonly of: Pick<NodeVersions, 'behind'> }) => (
  <State of={behind.length === 0 ? 'ok' : 'blocked'}>{gapsText(behind)}</State>
);

const BACK = 'back';

interface MoveProps {
  readonly id: string;
  readonly versions: Versions;
  readonly onDone: () => void;
}

function MoveTo({ id, versions, onDone }: MoveProps) {
  const plugins = new Set(versions.plugins.map(({ name }) => name));
  const kindOf = ({ name }: Versions['others'][number]) => (name === versions.release.name ? 'release' : 'plugin');
  const wanted = ({ texts }: Given) => {
    const { to = BACK } = texts;
    const [kind, which] = to.split(' ');
    if (which === undefined) return { back: true };
    return kind === 'release' ? { release: Number(which) } : { plugins: [Number(which)] };
  };
  const options = [
    ...versions.others
      .filter((one) => kindOf(one) === 'release' || plugins.has(one.name))
      .map((one) => [`${kindOf(one)} ${one.id}`, partText(one)] as const),
    [BACK, 'back, to where the last move came from'] as const,
  ];
  return (
    <Action<Move>
      label="Move to another version"
      explain="Settings keep their values where the other version allows them. Nodes get it with the next deployment."
      fields={[{ name: 'to', label: 'Version', type: 'select', options, value: options[0]![0] }]}
      reason={false}
      plan={(given, onPlan) => <MovePlan key={given.texts.to} id={id} wanted={wanted(given)} onPlan={onPlan} />}
      act={async (given, { digest }) => {
        await send('POST /clusters/:id/move', { params: { id }, body: { ...wanted(given), digest } });
        listsChanged.value++;
        onDone();
      }}
      done="The cluster has moved. Deploy its changes to bring the version to its nodes."
    />
  );
}

interface PlanProps {
  readonly id: string;
  readonly wanted: { readonly back?: boolean; readonly release?: number; readonly plugins?: readonly number[] };
  readonly onPlan: (plan: Loading<Move>) => void;
}

function MovePlan({ id, wanted: { back, release, plugins }, onPlan }: PlanProps) {
  const plan = useData(
    at('GET /clusters/:id/move', {
      params: { id },
      query: { back: back ? '1' : undefined, release, plugins: plugins?.join(',') },
    }),
  );
  return (
    <Planned from={plan} onPlan={onPlan}>
      {({ parts, settings, graphs, findings }) => (
        <>
          <Findings label="Problems" of={findings} />
          <ul class="plain">
            {parts.map(({ kind, from, to }) => (
              <li>
                {kind} <strong>{partText(from)}</strong> → <strong>{partText(to)}</strong>
              </li>
            ))}
          </ul>
          <SettingChanges of={settings} />
          {graphs.map(({ type, owner, added, removed, changed }) => (
            <section aria-label={`Graph ${type} of ${owner}`}>
              <h3>
                Graph {type} of {owner}
              </h3>
              <ul class="plain">
                <Tasks verb="adds" of={added} />
                <Tasks verb="removes" of={removed} />
                <Tasks verb="changes" of={changed} />
              </ul>
            </section>
          ))}
        </>
      )}
    </Planned>
  );
}

const Tasks = ({ verb, of }: { readonly verb: string; readonly of: readonly string[] }) =>
  of.length === 0 ? null : (
    <li>
      {verb} <strong>{of.join(', ')}</strong>
    </li>
  );
