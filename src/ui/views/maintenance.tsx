import { useState } from 'preact/hooks';
import type { MaintenanceNote } from '../../core/maintenance.ts';
import { type Answer, send } from '../kit/api.ts';
import { Action, type Given } from '../kit/ask.tsx';
import { commandOf } from '../kit/command-text.ts';
import { State } from '../kit/parts.tsx';
import { Ago } from '../kit/times.tsx';
import { count, said } from '../kit/words.ts';

type Ended = Answer<'DELETE /nodes/:id/maintenance'>;
type Missed = Ended['missed'];

/** That people work on a node, since when, who says so, and why. */
export const InMaintenance = ({ of }: { readonly of: MaintenanceNote | undefined }) =>
  of === undefined ? null : (
    <span class="maintenance">
      <State of="paused">in maintenance</State>{' '}
      <span class="quiet">
        since <Ago of={of.since} />, {of.by}: {of.reason}
      </span>
    </span>
  );

interface MaintenanceProps {
  /** Of the inventory, or of the documents of a site. */
  readonly of: { readonly id: number } | { readonly site: string; readonly node: string };
  readonly name: string;
  readonly now: MaintenanceNote | undefined;
  /** Whether MAAS has a machine that can be locked. */
  readonly hasMachine: boolean;
  readonly onDone: () => void;
}

/** Puts a node into maintenance, or ends it and shows what the node missed. */
export function Maintenance({ of, name, now, hasMachine, onDone }: MaintenanceProps) {
  const [missed, setMissed] = useState<Missed>();
  const begin = async ({ texts, note }: Given): Promise<string> => {
    const body = { reason: note.reason ?? '', ...(texts.lock !== undefined && { lock: true }) };
    const { runs, notes } =
      'id' in of
        ? await send('PUT /nodes/:id/maintenance', { params: { id: of.id }, body })
        : await send('PUT /sites/:site/nodes/:node/maintenance', { params: of, body });
    setMissed(undefined);
    onDone();
    const underWay = runs.map(
      (run) => `Run ${run.number ?? run.id} (${said(run.kind)}) is under way and keeps its plan, which may have it.`,
    );
    return [`${name} is in maintenance.`, ...underWay, ...notes].join(' ');
  };
  const end = async (): Promise<void> => {
    const ended: Ended =
      'id' in of
        ? await send('DELETE /nodes/:id/maintenance', { params: { id: of.id } })
        : await send('DELETE /sites/:site/nodes/:node/maintenance', { params: of });
    setMissed(ended.missed);
    onDone();
  };
  if (now !== undefined)
    return (
      <Action
        label="End maintenance"
        title={`End the maintenance of ${name}`}
        explain="Runs have it again. What it missed is shown as a plan; nothing is started."
        preview={() => (
          <p>
            <strong>{name}</strong> <InMaintenance of={now} />
          </p>
        )}
        reason={false}
        act={end}
        done={`${name} is back.`}
      />
    );
  return (
    <>
      <Action
        label="Maintenance"
        title={`Put ${name} into maintenance`}
        explain="Runs, plans and Deploy changes leave it out and say so. A run under way keeps its plan."
        needsReason
        fields={
          hasMachine ? [{ name: 'lock', label: 'Also lock its machine in MAAS until then', type: 'checkbox' }] : []
        }
        act={begin}
        command={(given) =>
          commandOf(
            [
              ...['node', 'maintenance', 'on', 'id' in of ? of.id : of.node],
              ...('id' in of ? [] : ['--site', of.site]),
              given.texts.lock !== undefined && '--lock',
            ],
            given,
          )
        }
      />
      {missed && <WhatItMissed of={missed} name={name} />}
    </>
  );
}

const MACHINE = { deploy: 'deployed', leave: 'left as it is', refuse: 'refused', unknown: 'unknown' } as const;

/** What a deployment would do for the node now. */
const WhatItMissed = ({ of: { machine, graphs }, name }: { readonly of: Missed; readonly name: string }) => (
  <section class="preview" aria-label={`What ${name} missed`}>
    <h3>What {name} missed</h3>
    {machine && (
      <p>
        By a run of its site, its machine would be <strong>{MACHINE[machine.does]}</strong>: {machine.why}
        {machine.fields.length > 0 && `; its documents changed: ${machine.fields.join(', ')}`}
      </p>
    )}
    {graphs.map(({ type, tasks, problem }) => (
      <>
        <p>
          Graph <strong>{type}</strong>:{' '}
          {problem ?? (tasks.length === 0 ? 'nothing to do' : count(tasks.length, 'task'))}
        </p>
        <ul class="plain">
          {tasks.map((one) => (
            <li key={one.task}>
              <strong>{one.task}</strong>{' '}
              <span class="quiet">{one.first_time ? 'for the first time' : one.changed.join(', ')}</span>
            </li>
          ))}
        </ul>
      </>
    ))}
    {machine === null && graphs.length === 0 && <p>Nothing: it has neither site nor cluster.</p>}
  </section>
);
