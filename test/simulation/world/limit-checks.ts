import type { Random } from '@sitewright/temporal-simulator';
import { STARTED } from '../../../src/core/run/passed-on.ts';
import type { RunSubject } from '../../../src/core/run/subject.ts';
import type { Claimant } from '../../../src/store/queries/claims.ts';
import type { PermitRow } from '../../../src/store/queries/permits.ts';
import type { Observer } from '../../../worker/parts/rehearsals/installation.ts';
import type { World } from '../../../worker/parts/rehearsals/world.ts';
import { ANSWERED } from '../../../workflows/protocol.ts';
import type { CopiedStore } from './copied-store.ts';
import { type AtOnce, placesOf, type WantedLimits } from './limits.ts';

type Call = Parameters<Observer['store']>[0];
type Permit = Pick<PermitRow, 'machine' | 'runId' | 'work' | 'state'>;

interface Machine {
  readonly name: string;
  readonly rack: string;
}

/** A node of the inventory. */
interface Known {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly online: boolean;
  readonly errorMsg: string | null;
  readonly errorType?: string | null;
  readonly clusterId: number | null;
}

/** How a run that goes beyond limits was started. */
interface Beyond {
  readonly reason: string;
  /** The entry of the audit trail in which an API has its start; null: none has. */
  readonly entry: string | null;
  readonly startedAt: number;
}

interface Revision {
  readonly limits: WantedLimits;
  readonly racks: ReadonlyMap<string, string>;
  readonly since: number;
}

/** A process that has read the documents may stall before it decides by them. */
const DOCUMENTS_LAST_MS = 25 * 60_000;

/**
 * Judges the limits of changes of one site from outside: whom the product gives permits, and what is really under way. It counts by
 * itself, from what the seed wants and from what becomes of claims.
 */
export class LimitChecks {
  readonly random: Random;
  readonly #world: World;
  readonly #site: string;
  readonly #inventory = new Map<number, Known>();
  readonly #maintained = new Set<string>();
  /** Machines that runs have left broken, with these runs. One that tries again takes that back. */
  readonly #failed = new Map<string, Set<string>>();
  readonly #revisions: Revision[] = [];
  /** By machine and run. */
  readonly #held = new Map<string, Permit>();
  /** Permits for tasks that a restored store has lost: runs of graphs do not prove them again (guarantees.md). */
  readonly #lost = new Set<string>();
  readonly #holders = new Map<string, string>();
  /** Runs that go beyond the limits, by id: someone with the right to has started them, or nobody has. */
  readonly #beyond = new Map<string, Beyond>();
  /** Those of them that have had a permit. */
  readonly #went = new Set<string>();
  constructor(world: World, site: string, random: Random) {
    this.#world = world;
    this.#site = site;
    this.random = random;
  }

  /** The documents have these limits and machines, with their racks, from now on. */
  async commits(limits: WantedLimits, nodes: readonly Machine[]): Promise<void> {
    const racks = new Map(nodes.map(({ name, rack }) => [name, rack]));
    this.#revisions.push({ limits, racks, since: this.#world.time.now });
    this.#world.tell(`    ${JSON.stringify(limits.data)}`);
    await this.#look();
  }

  /** A person changes a node in the inventory. */
  async changes(node: number, change: Partial<Known>): Promise<void> {
    // While the change is under way, the machine counts as in service.
    if (change.online !== false) this.#knows(node, change);
    await this.#world.store.nodes.update(node, change);
    this.#knows(node, change);
  }

  isOnline(node: number): boolean | undefined {
    return this.#inventory.get(node)?.online;
  }

  /** A person puts a node into maintenance, or takes it out of that. */
  async maintenance(node: string): Promise<void> {
    const { store, time } = this.#world;
    const key = { site: this.#site, node };
    this.#world.tell(`    ${node}`);
    if (this.#maintained.delete(node)) {
      await store.nodeMaintenance.end(key);
      return;
    }
    await store.nodeMaintenance.begin({
      ...key,
      reason: 'simulated',
      since: new Date(time.now).toISOString(),
      by: 'ann',
    });
    this.#maintained.add(node);
  }

  /** Operators end maintenance, and repair what runs have left broken or bare. */
  async repair(): Promise<void> {
    const { permits } = this.#world.store;
    for (const node of this.#maintained) await this.maintenance(node);
    const machines = [...this.#failed.keys()];
    this.#failed.clear();
    await permits.repaired(this.#site, machines);
    for (const [id, { name }] of this.#inventory)
      if (this.#standing(name) === 'out' && !this.#isHeld(name))
        await this.changes(id, { status: 'provisioned', errorType: null, errorMsg: null });
  }

  readonly store = ({ port, method, args, result }: Call): void => {
    if (port === 'claims') this.#claimed(method, args, result);
    if (port === 'runs' && method === 'end' && result !== null) this.#holds(args[2], null);
    if (port === 'nodes') this.#changed(method, args, result);
    if (port !== 'permits') return;
    if (method === 'put') for (const row of args[0] as readonly (PermitRow & object)[]) this.#put(row);
    const [site, run, machines] = args as [string, string, readonly string[]];
    if (site !== this.#site) return;
    if (method === 'remove') for (const machine of machines) this.#held.delete(keyOf(run, machine));
    if (method === 'repaired') for (const machine of args[1] as readonly string[]) this.#failed.delete(machine);
  };

  /** What the product writes into the inventory. */
  #changed(method: string, args: readonly unknown[], result: unknown): void {
    if (method === 'create') this.#knows((result as Known).id, result as Known);
    if (method === 'update') this.#knows(args[0] as number, args[1] as Partial<Known>);
    if (method !== 'updateMany') return;
    for (const { id, change } of args[0] as readonly { id: number; change: Partial<Known> }[]) this.#knows(id, change);
  }

  #knows(id: number, { name, status, online, errorMsg }: Partial<Known>): void {
    const before = this.#inventory.get(id);
    this.#inventory.set(id, {
      ...{ id, name: name ?? before?.name ?? '', status: status ?? before?.status ?? '' },
      ...{
        online: online ?? before?.online ?? true,
        errorMsg: errorMsg === undefined ? (before?.errorMsg ?? null) : errorMsg,
      },
      clusterId: before?.clusterId ?? null,
    });
  }

  /** Reads what the store has. */
  async #look(): Promise<void> {
    const { nodes, nodeMaintenance } = this.#world.store;
    const [known, maintained] = await Promise.all([nodes.list({ site: this.#site }), nodeMaintenance.list(this.#site)]);
    this.#inventory.clear();
    for (const { id, name, status, online, errorMsg, clusterId } of known)
      this.#inventory.set(id, { ...{ id, name: name ?? '', status, online, errorMsg, clusterId } });
    this.#maintained.clear();
    for (const { node } of maintained) this.#maintained.add(node);
  }

  #claimed(method: string, args: readonly unknown[], result: unknown): void {
    const isClaimed = (result as { readonly claimed?: boolean } | null)?.claimed === true;
    if (method === 'claim' && isClaimed) this.#holds(args[0], (args[1] as Claimant).runId);
    if (method === 'takeOver' && isClaimed) this.#holds(args[0], (args[2] as Claimant).runId);
    if (method === 'release' && result === true) this.#holds(args[0], null);
  }

  #holds(subject: unknown, run: string | null): void {
    const key = JSON.stringify(subject);
    if (run === null) this.#holders.delete(key);
    else this.#holders.set(key, run);
    for (const [of, { runId }] of this.#held) if (!this.isAlive(runId)) this.#held.delete(of);
  }

  /** Whether a run has a claim: with that, a dead one loses its permits. */
  isAlive(run: string): boolean {
    return [...this.#holders.values()].includes(run);
  }

  #mayTouch(run: string, machine: string): boolean {
    return this.#held.has(keyOf(run, machine)) || this.#lost.has(keyOf(run, machine));
  }

  #leftBroken(machine: string, run: string): void {
    const runs = this.#failed.get(machine) ?? new Set();
    this.#failed.set(machine, runs.add(run));
  }

  #put(row: Permit & { readonly site: string }): void {
    const { site, machine, runId, state } = row;
    if (site !== this.#site) return;
    const key = keyOf(runId, machine);
    const isNew = state === 'held' && !this.#held.has(key);
    const takesNoPlace = this.#standing(machine) !== 'in service' || this.#isHeld(machine);
    if (state !== 'held') this.#held.delete(key);
    if (state === 'failed') this.#leftBroken(machine, runId);
    if (state === 'held' && this.#failed.get(machine)?.delete(runId) && this.#failed.get(machine)!.size === 0)
      this.#failed.delete(machine);
    if (state !== 'held' || !this.isAlive(runId)) return;
    const limitsBefore = this.#countedFor(machine);
    this.#held.set(key, row);
    const beyond = this.#beyond.get(runId);
    if (beyond?.entry === null)
      this.#world.violated(`run ${runId} may touch ${machine}, and nobody with the right to lets it go beyond limits`);
    if (beyond !== undefined) this.#went.add(runId);
    if (!isNew || beyond !== undefined) return;
    const who = `run ${runId} may touch ${machine}`;
    this.#judge(who, (revision) => {
      if (revision.limits.closed(this.#world.time.now)) return 'the calendar is closed';
      const over = takesNoPlace ? null : this.#over(revision, machine);
      return over ?? this.#tooMany(revision, machine, limitsBefore);
    });
  }

  /** What a start that goes beyond limits has to have, as an API, or somebody with Temporal's tools, starts it. */
  async beyond(random: Random, workflowId: string) {
    const reason = `simulated ${random.int(1, 99)}`;
    const hasRight = random.chance(0.8);
    const { audit } = this.#world.store;
    const entry = hasRight
      ? (await audit.append({ actor: 'ann', action: STARTED, target: `workflow/${workflowId}` })).id
      : null;
    const startedAt = this.#world.time.now;
    return {
      ...{ input: { override_limits: reason }, memo: entry === null ? {} : { [ANSWERED]: entry } },
      started: ({ runId }: { readonly runId: string }) => this.#beyond.set(runId, { reason, entry, startedAt }),
    };
  }

  /** Who went beyond limits is in the audit trail and in the report. @param restoredAt entries of before may be lost */
  async checkRecords(restoredAt: number | null): Promise<void> {
    const { audit, runs } = this.#world.store;
    for (const run of this.#went) {
      const { reason, entry, startedAt } = this.#beyond.get(run)!;
      const [start] = await audit.find([`start-${entry}`]);
      const isLost = startedAt <= (restoredAt ?? 0);
      const { override_limits: audited } = (start?.details ?? {}) as { readonly override_limits?: string };
      if (audited !== reason && !isLost)
        this.#world.violated(`run ${run} went beyond the limits, and the audit trail does not say why`);
      const report = (await runs.getReport(run).catch(() => undefined)) as OverriddenReport | undefined;
      if (report === undefined) continue;
      if ((report.overridden?.limits ?? report.limits?.overridden) !== reason)
        this.#world.violated(`run ${run} went beyond the limits, and its report does not say why`);
    }
  }

  /** Work begins on a machine, in truth. @param busy what else runs with claims work on, in truth: run and machine */
  begins(run: string, machine: string, busy: readonly (readonly [run: string, machine: string])[], what: string): void {
    if (!this.isAlive(run)) return;
    if (!this.#mayTouch(run, machine)) this.#world.violated(`${what}, and its run has no permit for ${machine}`);
    for (const [other, at] of busy)
      if (this.isAlive(other) && !this.#mayTouch(other, at) && this.#standing(at) !== 'out')
        this.#world.violated(`${what}; run ${other} works on ${at} and has no permit for it`);
  }

  /** The same store; what is restored is known of no more. @param subjects of all runs */
  copying(
    { copy, restore }: Pick<CopiedStore, 'copy' | 'restore'>,
    subjects: readonly RunSubject[],
  ): Pick<CopiedStore, 'copy' | 'restore'> {
    return {
      copy,
      restore: async () => {
        await restore();
        await this.#restored(subjects);
      },
    };
  }

  async #restored(subjects: readonly RunSubject[]): Promise<void> {
    const { permits, claims } = this.#world.store;
    this.#holders.clear();
    for (const subject of subjects) {
      const claim = await claims.holder(subject);
      if (claim !== null) this.#holders.set(JSON.stringify(subject), claim.runId);
    }
    for (const [key, { work }] of this.#held) if (work === 'tasks') this.#lost.add(key);
    this.#held.clear();
    this.#failed.clear();
    for (const row of await permits.list()) {
      if (row.state === 'failed') this.#leftBroken(row.machine, row.runId);
      if (row.state === 'held' && this.isAlive(row.runId)) this.#held.set(keyOf(row.runId, row.machine), row);
    }
    await this.#look();
  }

  /** Of the documents that a process may have read, each forbids it. */
  #judge(what: string, why: (revision: Revision) => string | null): void {
    const { now } = this.#world.time;
    const known = this.#revisions.filter(
      (_, at) => (this.#revisions[at + 1]?.since ?? Number.POSITIVE_INFINITY) > now - DOCUMENTS_LAST_MS,
    );
    const reasons = known.map(why);
    if (reasons.every((reason) => reason !== null)) this.#world.violated(`${what}, and ${reasons.at(-1)}`);
  }

  #over({ limits, racks }: Revision, machine: string): string | null {
    // One that the documents do not have serves nothing.
    if (!racks.has(machine)) return null;
    const held = [...this.#held.values()].map((one) => one.machine);
    const taken = [...racks.keys()].filter(
      (one) => this.#standing(one) === 'out' || (this.#standing(one) === 'in service' && held.includes(one)),
    );
    for (const { per, at_most } of limits.outOfService) {
      const most = placesOf(at_most, there(racks, per, machine, [...racks.keys()]).length);
      const out = there(racks, per, machine, taken);
      if (out.length > most) return `${out.join(', ')} of its ${per} are out of service: at most ${most}`;
    }
    return null;
  }

  /** @param before the kinds of limits that counted the machine already */
  #tooMany({ limits, racks }: Revision, machine: string, before: ReadonlySet<keyof typeof COUNTED>): string | null {
    for (const limit of limits.atOnce) {
      const kind = 'requests' in limit ? 'requests' : 'deploying';
      if (before.has(kind) || !this.#countedFor(machine).has(kind)) continue;
      const counted = there(racks, limit.per, machine, [...this.#holding(COUNTED[kind])]);
      const most = mostOf(limit);
      if (counted.length > most) return `${counted.join(', ')} have permits: at most ${kind} ${most} per ${limit.per}`;
    }
    return null;
  }

  #countedFor(machine: string): ReadonlySet<keyof typeof COUNTED> {
    const kinds = ['deploying', 'requests'] as const;
    return new Set(kinds.filter((kind) => this.#holding(COUNTED[kind]).has(machine)));
  }

  #holding(works: readonly Permit['work'][]): Set<string> {
    return new Set([...this.#held.values()].filter(({ work }) => works.includes(work)).map(({ machine }) => machine));
  }

  /** What the store says of a machine. */
  #standing(machine: string): 'out' | 'new' | 'in service' {
    if (this.#maintained.has(machine) || this.#failed.has(machine)) return 'out';
    const node = [...this.#inventory.values()].find(({ name }) => name === machine);
    if (node === undefined || node.status === 'error') return 'out';
    if (node.status === 'discover') return node.errorMsg === null ? 'new' : 'out';
    return node.online || node.clusterId === null ? 'in service' : 'out';
  }

  #isHeld(machine: string): boolean {
    return [...this.#held.values()].some((one) => one.machine === machine);
  }
}

/** Of a site's run, or of one of graphs. */
interface OverriddenReport {
  readonly overridden?: { readonly limits?: string };
  readonly limits?: { readonly overridden?: string };
}

const keyOf = (run: string, machine: string): string => `${run} ${machine}`;

/** The permits that limits count. */
const COUNTED = { deploying: ['deploy'], requests: ['deploy', 'release'] } as const;

const mostOf = (limit: AtOnce): number => ('requests' in limit ? limit.requests : limit.deploying);

/** Those of the machine's site or rack. */
const there = (racks: Revision['racks'], per: AtOnce['per'], machine: string, of: readonly string[]): string[] =>
  of.filter((one) => per !== 'rack' || (racks.has(one) && racks.get(one) === racks.get(machine)));
