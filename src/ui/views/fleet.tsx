import type { VNode } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { Machine } from '../../core/contracts/machine.ts';
import { HEALTHS, type Health } from '../../core/machine-health.ts';
import { at, send } from '../kit/api.ts';
import { Action, type Given, Search } from '../kit/ask.tsx';
import { commandOf } from '../kit/command-text.ts';
import { Counts, Loaded } from '../kit/parts.tsx';
import { fieldsOf, filterBy, go } from '../kit/router.ts';
import { shortNames } from '../kit/short-names.ts';
import { useData } from '../kit/store.ts';
import { Chosen, forEach, type Selection, useSelection } from '../kit/table.tsx';
import { count, type Look, said, some } from '../kit/words.ts';
import { GraphsAgain } from './run-again.tsx';
import { Touched } from './site-plan.tsx';

const EVERY_MS = 3_000;
/** Few enough for their names to be read. */
const NAMED = 120;
const LETTERS = 12;
/** More than any rack holds: they have no racks. */
const WIDE = 100;

/** How a health looks, and its sign; few machines have room for those of the good ones. */
const LOOKS: Readonly<Record<Health, readonly [look: Look, sign: string]>> = {
  failed: ['bad', '✕'],
  silent: ['warn', '!'],
  drifted: ['warn', '≠'],
  running: ['busy', '▸'],
  maintenance: ['warn', '‖'],
  bare: ['wait', ''],
  unknown: ['off', '?'],
  ok: ['ok', '✓'],
};

interface FleetProps {
  readonly query: URLSearchParams;
  /** Default: all. */
  readonly site?: string;
  /** Only these, by their ids. */
  readonly only?: ReadonlySet<number>;
}

/** Machines as they are: a map of racks, filters, and what can be done for several of them. */
export function Fleet({ query, site, only }: FleetProps) {
  const machines = useData(at('GET /machines', { query: { site } }), { every: EVERY_MS });
  const [health, text] = fieldsOf(query, ['health', 'machine']);
  const all = useMemo(
    () => (machines.data?.items ?? []).filter(({ id }) => only?.has(id) ?? true),
    [machines.data, only],
  );
  const found = useMemo(
    () => all.filter(({ name, rack }) => `${name} ${rack ?? ''}`.toLowerCase().includes(text.toLowerCase())),
    [all, text],
  );
  const shown = useMemo(() => found.filter((one) => health === '' || one.health === health), [found, health]);
  const selection = useSelection(all, { keyOf: (one) => one.id, nameOf: (one) => one.name });
  const counts = HEALTHS.map((one) => [one, found.filter((machine) => machine.health === one).length] as const);
  return (
    <Loaded from={machines}>
      {() => (
        <>
          <div class="filters">
            <Counts
              label="Machines by health"
              counts={counts}
              chosen={health}
              look={(one) => LOOKS[one][0]}
              onChoose={(chosen) => filterBy({ health: chosen })}
            />
            <Search label="Machine or rack" value={text} onChange={(wanted) => filterBy({ machine: wanted })} />
            <button type="button" onClick={() => selection.toggle(shown.map(selection.keyOf), true)}>
              Select {count(shown.length, 'machine')}
            </button>
          </div>
          <Chosen selection={selection} what="machine">
            <Bulk selection={selection} onDone={machines.reload} />
          </Chosen>
          {shown.length === 0 && <p class="quiet">No machines match.</p>}
          <FleetMap machines={shown} selection={selection} hasSites={site === undefined} />
        </>
      )}
    </Loaded>
  );
}

interface MapProps {
  readonly machines: readonly Machine[];
  readonly selection: Selection<Machine>;
  /** Whether they are of several sites. */
  readonly hasSites: boolean;
}

/**
 * A column for each rack, a cell for each machine. One stop of the keyboard, with arrows within; a rack is drawn anew only when
 * one of its machines has changed, so that ten thousand stay smooth.
 */
function FleetMap({ machines, selection, hasSites }: MapProps) {
  const drawn = useRef(new Map<string, { readonly of: string; readonly node: VNode }>());
  const racks = useMemo(
    () =>
      Map.groupBy(machines, ({ site, rack }) =>
        [hasSites ? (site ?? 'no site') : '', rack ?? (hasSites ? '' : 'no rack')].filter(Boolean).join(' / '),
      ),
    [machines, hasSites],
  );
  const isNamed = machines.length <= NAMED;
  const names = useMemo(
    () => shortNames(isNamed ? machines.map(({ name }) => name) : [], LETTERS),
    [machines, isNamed],
  );
  const rackOf = (name: string, own: readonly Machine[]): VNode => {
    const of = JSON.stringify([
      isNamed,
      own.map((one) => [one.id, one.health, one.reason, names.get(one.name), selection.chosen.has(one.id)]),
    ]);
    const before = drawn.current.get(name);
    if (before?.of === of) return before.node;
    const node = (
      <section
        class={own.length > WIDE ? 'rack wide' : 'rack'}
        key={name}
        aria-label={`${name}: ${count(own.length, 'machine')}`}
      >
        <h3>{name}</h3>
        <div class="cells">
          {own.map((one) => (
            <button
              type="button"
              key={one.id}
              data-id={one.id}
              tabindex={-1}
              class={`cell ${LOOKS[one.health][0]}`}
              data-sign={LOOKS[one.health][1]}
              title={textOf(one)}
              aria-label={isNamed ? undefined : textOf(one)}
              aria-pressed={selection.chosen.has(one.id)}
            >
              {isNamed && (
                <>
                  <span class="name">{names.get(one.name)}</span>
                  <span class="note">{said(one.health)}</span>
                  <span class="unseen">
                    {names.get(one.name) === one.name ? '' : one.name} {one.reason}
                  </span>
                </>
              )}
            </button>
          ))}
        </div>
      </section>
    );
    drawn.current.set(name, { of, node });
    return node;
  };
  const choose = ({ target }: Event): void => {
    const id = Number(cellOf(target)?.dataset.id);
    if (!Number.isNaN(id)) selection.toggle([id], !selection.chosen.has(id));
  };
  return (
    <div
      class={isNamed ? 'fleet named' : 'fleet'}
      role="group"
      aria-label="Machines at a glance"
      ref={(map) => {
        if (map?.querySelector('[tabindex="0"]') === null)
          map.querySelector<HTMLElement>('.cell')?.setAttribute('tabindex', '0');
      }}
      onClick={choose}
      onKeyDown={move}
    >
      {[...racks].map(([name, own]) => rackOf(name, own))}
    </div>
  );
}

const cellOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('.cell') : null;

/** Arrows: up and down a rack, left and right to the same place of the next one. */
function move(event: KeyboardEvent): void {
  const cell = cellOf(event.target);
  const column = cell?.parentElement;
  if (cell === null || !column) return;
  const rack = column.closest('.rack');
  const inRack = (other: Element | null | undefined) =>
    other?.querySelectorAll('.cell')[[...column.children].indexOf(cell)] ?? other?.querySelector('.cell:last-child');
  const to = {
    ArrowDown: cell.nextElementSibling,
    ArrowUp: cell.previousElementSibling,
    ArrowRight: inRack(rack?.nextElementSibling),
    ArrowLeft: inRack(rack?.previousElementSibling),
  }[event.key];
  if (!(to instanceof HTMLElement)) return;
  event.preventDefault();
  cell.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

const textOf = ({ name, health, reason }: Machine): string => `${name}: ${said(health)}${reason ? `, ${reason}` : ''}`;

/** What is done for the chosen machines together. */
function Bulk({ selection, onDone }: { readonly selection: Selection<Machine>; readonly onDone: () => void }) {
  const { rows, names } = selection;
  const [first] = rows;
  const [site, ...otherSites] = new Set(rows.map((one) => one.site));
  const [cluster, ...otherClusters] = new Set(rows.map((one) => one.cluster));
  const failed = rows.filter(({ health, run }) => health === 'failed' && run !== undefined);
  const oneSite = !site || otherSites.length > 0 ? 'Select machines of one site.' : false;
  const redeploy = async ({ note }: Given): Promise<void> => {
    const body = { kind: 'redeploy_nodes' as const, nodes: names, ...note };
    const run = await send('POST /sites/:site/runs', { params: { site: site ?? '' }, body });
    go(`/runs/${run.id}`);
  };
  const keep = async ({ note }: Given): Promise<void> => {
    const body = { reason: note.reason ?? '' };
    await selection.each(({ id }) => send('PUT /nodes/:id/maintenance', { params: { id }, body }));
    onDone();
  };
  const retry = async ({ note }: Given): Promise<void> => {
    await forEach(failed, selection.nameOf, ({ name: node, run = '' }) =>
      send('POST /runs/:run/nodes/:node/retry', { params: { run, node }, body: note }),
    );
    selection.clear();
  };
  return (
    <>
      {first && rows.length === 1 && <a href={`/nodes/${first.id}`}>Show {first.name}</a>}
      <Action
        label="Redeploy"
        title={`Redeploy ${count(rows.length, 'machine')}`}
        explain="Releases these machines, then deploys them again from the newest documents. Their disks are lost."
        disabled={oneSite}
        preview={() => <Touched site={site ?? ''} kind="redeploy_nodes" nodes={names} />}
        act={redeploy}
        command={(given) => commandOf(['site', 'redeploy', site ?? '', ...names], given)}
        done="The redeployment has started."
        danger
      />
      <Action
        label="Maintenance"
        title={`Put ${count(rows.length, 'machine')} into maintenance`}
        explain="Runs, plans and Deploy changes leave them out and say so. A run under way keeps its plan."
        needsReason
        preview={() => <p>{some(names, 30)}</p>}
        act={keep}
        done={`${count(rows.length, 'machine')} in maintenance.`}
      />
      {failed.length > 0 && (
        <Action
          label="Retry"
          title={`Retry ${count(failed.length, 'failed machine')}`}
          explain="Retries them in their open run; their groups are evaluated again."
          preview={() => <p>{some(failed.map(selection.nameOf), 30)}</p>}
          act={retry}
          done="Retrying the machines."
        />
      )}
      {cluster && otherClusters.length === 0 && (
        <GraphsAgain id={cluster} given={{ graphs: [{ nodes: rows.map(({ id }) => id) }] }} label="Run a graph" />
      )}
    </>
  );
}
