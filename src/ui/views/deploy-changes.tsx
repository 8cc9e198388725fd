import type { ComponentChildren } from 'preact';
import { type Answer, at, send } from '../kit/api.ts';
import { Action, type Given, heldBefore, holdField, Planned } from '../kit/ask.tsx';
import { commandOf } from '../kit/command-text.ts';
import { fieldOf, textsOf } from '../kit/own-data.ts';
import { clusterRehearsal } from '../kit/rehearsed.ts';
import { go } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { count } from '../kit/words.ts';
import type { Node } from './cluster-nodes.tsx';
import { GraphPlan } from './graph-plan.tsx';
import { InMaintenance } from './maintenance.tsx';

type Changes = Answer<'GET /clusters/:id/changes/'>;

interface DeployChangesProps {
  /** The cluster. */
  readonly id: number;
  readonly locked: boolean;
  readonly nodes: readonly Node[];
  /** What was rehearsed, as defaults. */
  readonly rehearsed?: object | undefined;
  readonly isMain: boolean;
}

/** Deploys what is pending in a cluster: exactly the graphs whose plans it shows. */
export function DeployChanges({ id, locked, nodes, rehearsed, isMain }: DeployChangesProps) {
  const changes = useData(at('GET /clusters/:id/changes/', { params: { id } }), { again: listsChanged.value });
  const chosen = ({ texts }: Given, { sequence, graphs }: Changes) => ({
    ...(sequence === null ? { graphs: graphs.map((type) => ({ type })) } : { sequence: sequence.id }),
    ...(texts.hold !== undefined && { hold_on_failure: true }),
    ...heldBefore(texts.hold_before),
  });
  const start = async (given: Given, pending: Changes): Promise<void> => {
    const body = { cluster: id, ...chosen(given, pending), ...given.note };
    const run = await send('POST /graphs/execute/', { body });
    go(`/runs/${run.run}`);
  };
  return (
    <Action<Changes>
      label="Deploy changes"
      verb="deploy"
      main={isMain}
      explain="Removes the nodes that leave, provisions new ones, and runs on all others what their changes need."
      plan={(_given, onPlan) => (
        <Planned from={changes} onPlan={onPlan}>
          {(data) => <Pending of={data} cluster={id} nodes={nodes} />}
        </Planned>
      )}
      fields={[
        {
          name: 'hold',
          label: 'Hold on failure, so that failed tasks can be retried',
          type: 'checkbox',
          value: rehearsed === undefined || fieldOf(rehearsed, 'hold_on_failure') === true,
        },
        holdField('tasks', textsOf(fieldOf(rehearsed, 'hold_before'))),
      ]}
      rehearse={(given, pending) => clusterRehearsal(id, chosen(given, pending))}
      act={start}
      command={(given) => commandOf(['cluster', 'deploy', id], given)}
      disabled={locked && 'A run is in progress on this cluster: wait for it, or control it on its page.'}
      done="The changes are being deployed."
    />
  );
}

interface PendingProps {
  readonly of: Changes;
  readonly cluster: number;
  readonly nodes: readonly Node[];
}

/** What is pending, and the plan of each graph. */
const Pending = ({ of: { nodes: changed, settings, graphs, sequence, maintenance }, cluster, nodes }: PendingProps) => {
  const kept = new Set(maintenance.map(({ id }) => id));
  const by = (kind: Changes['nodes'][number]['change']) =>
    changed.filter(({ change, id }) => change === kind && !kept.has(id));
  return (
    <>
      {changed.length === 0 && settings?.length === 0 && (
        <p>No node is pending, and no setting has changed since tasks last ran.</p>
      )}
      {maintenance.length > 0 && (
        <>
          <h3>Left out, in maintenance: {maintenance.length}</h3>
          <ul class="plain">
            {maintenance.map((one) => (
              <li key={one.id}>
                <strong>{one.name}</strong> <InMaintenance of={one} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Changed heading="Nodes that join" of={by('added')} />
      <Changed heading="Nodes that leave" of={by('removed')} />
      <Changed heading="Nodes with other roles" of={by('roles')} />
      {settings === null ? (
        <p>Nothing has run yet: all settings are new.</p>
      ) : (
        settings.length > 0 && (
          <>
            <h3>{count(settings.length, 'changed setting')}</h3>
            <ul class="plain">
              {settings.map(({ path, before, now }) => (
                <li key={path}>
                  <strong>{path}</strong> {textOfValue(before)} → {textOfValue(now)}
                </li>
              ))}
            </ul>
          </>
        )
      )}
      {sequence !== null && <p class="quiet">By the sequence {sequence.name} of its release.</p>}
      {graphs.map((type, at) => (
        <section key={`${at} ${type}`} aria-label={`Graph ${type}`}>
          <h3>
            {at + 1}. Graph {type}
          </h3>
          <GraphPlan cluster={cluster} type={type} nodes={nodes} />
        </section>
      ))}
      {by('added').length > 0 && (
        <p class="quiet">Nodes that join have a part in later graphs once they are provisioned.</p>
      )}
    </>
  );
};

function Changed({ heading, of }: { readonly heading: string; readonly of: Changes['nodes'] }): ComponentChildren {
  if (of.length === 0) return null;
  return (
    <>
      <h3>
        {heading}: {of.length}
      </h3>
      <ul class="plain">
        {of.map((node) => (
          <li key={node.id}>
            <strong>{node.name}</strong>{' '}
            <span class="quiet">{(node.pending_roles.length > 0 ? node.pending_roles : node.roles).join(', ')}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A value as its document has it; a mapping in one line. */
const textOfValue = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));
