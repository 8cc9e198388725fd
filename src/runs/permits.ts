import { allocate, boundOf, type Wanting } from '../core/permits/allocate.ts';
import type { PermitAnswer, PermitWait } from '../core/permits/answer.ts';
import { limitText } from '../core/permits/limit-text.ts';
import type { Limits, PermitWork } from '../core/permits/limits.ts';
import type { LimitedMachine, Obstacle, PermitFacts } from '../core/permits/may-touch.ts';
import { numberOf } from '../core/run/subject.ts';
import type { PermitRow, Store, StorePorts } from '../store/index.ts';
import { zoneOffset } from './zone-offset.ts';

/** A site as its newest documents limit the changes of its machines. */
export interface LimitedSite {
  readonly site: string;
  readonly limits: Limits;
  /** The rack of each of its machines, null if they name none. */
  readonly racks: ReadonlyMap<string, string | null>;
  /** How its machines stand, by name. */
  readonly standings: (within: StorePorts) => Promise<(machine: string) => Omit<LimitedMachine, 'rack'>>;
}

export interface PermitRequest {
  readonly run: string;
  readonly work: PermitWork;
  /** Machines that it wants to touch, in their order. */
  readonly wants: readonly string[];
  /** Machines that serve again, and that it has left broken. */
  readonly done?: readonly string[] | undefined;
  readonly failed?: readonly string[] | undefined;
  /** Machines that it has not touched. */
  readonly unused?: readonly string[] | undefined;
  /** All machines whose permits for this work it knew that it had, at that time, ms since 1970. Those that it did not know of go back. */
  readonly known?: { readonly machines: readonly string[]; readonly at: number } | undefined;
  /** Someone has the right to go beyond the limits: others count its permits. */
  readonly overrides?: boolean | undefined;
}

/** A run that has not asked for so long does not wait any more: its worker has stopped. */
const ASKS_WITHIN_MS = 30_000;
/** Of each run so many machines are kept that it waits for: enough to leave it its turn. */
const MOST_WAITING = 200;

/**
 * Decides about permits of a run, which has its claim, in one transaction: gives back what it needs no more, and takes what the limits
 * leave it beside all others. Safe to repeat.
 */
export const takePermits = (store: Store, site: LimitedSite, request: PermitRequest): Promise<PermitAnswer> =>
  store.atomically((within) => decide(within, site, request, Date.now()));

async function decide(
  within: StorePorts,
  limited: LimitedSite,
  { run, work, wants, done = [], failed = [], unused = [], known, overrides = false }: PermitRequest,
  now: number,
): Promise<PermitAnswer> {
  const { permits } = within;
  const { site } = limited;
  const at = new Date(now).toISOString();
  await permits.turn();
  await permits.forgetDead();
  await permits.remove(site, run, [...done, ...failed, ...unused]);
  await permits.repaired(site, done);
  await permits.put(
    failed.map((machine) => ({
      ...{ site, machine, runId: run, work, state: 'failed', counted: true, since: at, askedAt: at },
    })),
  );
  const rows = await permits.list();
  const unknown = known === undefined ? [] : unknownIn(rows, site, run, work, known);
  await permits.remove(
    site,
    run,
    unknown.map(({ machine }) => machine),
  );
  const facts = await factsOf(
    within,
    limited,
    rows.filter((row) => !unknown.includes(row)),
  );
  const own = rows.filter((row) => row.runId === run && row.site === site && row.state === 'waiting');
  const since = own[0]?.since ?? at;
  const me: Wanting = { run, work, machines: wants, since: Date.parse(since) };
  const { granted, waiting } = overrides
    ? allGranted(me, facts)
    : allocate(me, othersIn(rows, me, site, now), facts, now);
  // One that only gives permits back may wait for others.
  if (wants.length > 0) await permits.waitsNoMore(run, site);
  const left = [...waiting.keys()].slice(0, MOST_WAITING);
  await permits.put([
    ...granted.map(({ machine, counted }) => ({
      ...{ site, machine, runId: run, work, state: 'held' as const, counted, since: at, askedAt: at },
    })),
    ...left.map((machine) => ({
      ...{ site, machine, runId: run, work, state: 'waiting' as const, counted: false, since, askedAt: at },
    })),
  ]);
  return {
    granted: granted.map(({ machine }) => machine),
    waits: await describedWaits(within, waiting, facts, since),
  };
}

/** Permits that their run does not know of: it would wait for itself, for ever. */
function unknownIn(
  rows: readonly PermitRow[],
  site: string,
  run: string,
  work: PermitWork,
  known: NonNullable<PermitRequest['known']>,
): readonly PermitRow[] {
  const knows = new Set(known.machines);
  const isOwn = (row: PermitRow): boolean =>
    row.site === site && row.runId === run && row.work === work && row.state === 'held';
  return rows.filter((row) => isOwn(row) && !knows.has(row.machine) && Date.parse(row.since) < known.at);
}

/** @param rows all permits that count */
async function factsOf(within: StorePorts, limited: LimitedSite, rows: readonly PermitRow[]): Promise<PermitFacts> {
  const { site, limits } = limited;
  return {
    ...{ site, limits, offset: zoneOffset },
    machines: await machinesWith(within, limited, rows),
    held: rows.filter(({ state }) => state === 'held').map(({ runId, ...permit }) => ({ ...permit, run: runId })),
  };
}

/** How many of these machines could be changed at a time, if nothing else were and the calendar allowed it. */
export async function roomFor(store: StorePorts, site: LimitedSite, machines: readonly string[]): Promise<number> {
  const facts = await factsOf(store, site, await store.permits.list());
  return boundOf({ ...facts, held: [] }, 'deploy', machines);
}

const allGranted = ({ run, work, machines }: Wanting, { site, machines: known }: PermitFacts) => ({
  granted: machines.map((machine) => {
    const standing = known.get(machine)?.standing ?? 'new';
    return { site, machine, run, work, counted: standing !== 'new' };
  }),
  waiting: new Map<string, readonly Obstacle[] | 'turn'>(),
});

/** Runs that wait for machines of the site, and still ask. */
function othersIn(rows: readonly PermitRow[], me: Wanting, site: string, now: number): Wanting[] {
  const others = new Map<string, { run: string; work: PermitWork; machines: string[]; since: number }>();
  for (const row of rows) {
    if (row.state !== 'waiting' || row.site !== site || row.runId === me.run) continue;
    if (now - Date.parse(row.askedAt) > ASKS_WITHIN_MS) continue;
    const known = others.get(row.runId);
    if (known) known.machines.push(row.machine);
    else
      others.set(row.runId, {
        ...{ run: row.runId, work: row.work, machines: [row.machine], since: Date.parse(row.since) },
      });
  }
  return [...others.values()];
}

/** How the machines of the documents stand. */
async function machinesWith(
  within: StorePorts,
  { site, racks, standings }: LimitedSite,
  rows: readonly PermitRow[],
): Promise<ReadonlyMap<string, LimitedMachine>> {
  const known = await standings(within);
  const failed = new Set(rows.filter((row) => row.site === site && row.state === 'failed').map((row) => row.machine));
  return new Map(
    [...racks].map(([name, rack]) => {
      const standing = known(name);
      const isLeft = failed.has(name) && standing.standing !== 'out';
      return [name, { rack, ...(isLeft ? { standing: 'out' as const, why: 'a run has failed on it' } : standing) }];
    }),
  );
}

/** What the machines wait for: each limit once, with the first of those who have what they wait for. */
async function describedWaits(
  { runs }: StorePorts,
  waiting: ReadonlyMap<string, readonly Obstacle[] | 'turn'>,
  facts: PermitFacts,
  since: string,
): Promise<PermitWait[]> {
  const byLimit = new Map<string, { wait: Omit<PermitWait, 'behind'>; of: Obstacle | 'turn' }>();
  const add = (of: Obstacle | 'turn'): void => {
    const limit = of === 'turn' ? 'other runs of the site come first' : limitText(of);
    const known = byLimit.get(limit);
    const until = of !== 'turn' && 'until' in of ? of.until : null;
    byLimit.set(limit, {
      of,
      wait: {
        ...{ kind: of === 'turn' ? 'turn' : of.kind, limit, machines: (known?.wait.machines ?? 0) + 1, since },
        ...(until !== null && { until: new Date(until).toISOString() }),
      },
    });
  };
  for (const obstacles of waiting.values()) for (const of of obstacles === 'turn' ? [obstacles] : obstacles) add(of);
  const names = new Map<string, string>();
  const nameOf = async (run: string): Promise<string> => {
    const known =
      names.get(run) ??
      (await runs.get(run).then(
        (row) => `run ${numberOf(row)}`,
        () => 'a run',
      ));
    names.set(run, known);
    return known;
  };
  return Promise.all(
    [...byLimit.values()].map(async ({ wait, of }) => ({ ...wait, behind: await behind(of, facts, nameOf) })),
  );
}

/** The first of those that fill a limit. */
const NAMED = 6;

async function behind(
  of: Obstacle | 'turn',
  { site, machines, held }: PermitFacts,
  nameOf: (run: string) => Promise<string>,
): Promise<string[]> {
  if (of === 'turn' || of.kind === 'freeze' || of.kind === 'window') return [];
  const isThere = (machine: string): boolean => {
    const rack = machines.get(machine)?.rack ?? null;
    return of.limit.per !== 'rack' || of.of === null || rack === null || rack === of.of;
  };
  const inRuns = held.filter(
    (permit) =>
      (of.kind === 'at_once'
        ? (permit.work === 'deploy' || ('requests' in of.limit && permit.work === 'release')) &&
          (permit.site === site || of.limit.per === 'maas')
        : permit.counted && permit.site === site) && isThere(permit.machine),
  );
  const taken = new Set(inRuns.map(({ machine }) => machine));
  const broken =
    of.kind === 'at_once'
      ? []
      : [...machines].filter(([name, { standing }]) => standing === 'out' && !taken.has(name) && isThere(name));
  const named = [
    ...broken.slice(0, NAMED).map(([name, { why }]) => `${name}: ${why ?? 'out of service'}`),
    ...(await Promise.all(inRuns.slice(0, NAMED).map(async ({ machine, run }) => `${machine}: ${await nameOf(run)}`))),
  ];
  return named.slice(0, NAMED);
}
