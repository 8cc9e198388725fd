import type { Amount } from '../rollout/policy.ts';
import { type Closed, closedAt, type ZoneOffset } from './calendar.ts';
import type { AtOnceLimit, Limits, OutOfServiceLimit, PermitWork, RequestsLimit } from './limits.ts';

/** `new`: never deployed, so that a change takes nothing out of service. What is not known is `out`. */
export type MachineStanding = 'in_service' | 'out' | 'new';

export interface LimitedMachine {
  readonly rack: string | null;
  readonly standing: MachineStanding;
  /** Why it is out. */
  readonly why?: string;
}

export interface Permit {
  readonly site: string;
  readonly machine: string;
  readonly run: string;
  readonly work: PermitWork;
  /** The machine is out of service because of it. */
  readonly counted: boolean;
}

export interface PermitFacts {
  readonly site: string;
  readonly limits: Limits;
  /** The machines of the site's documents, by name. */
  readonly machines: ReadonlyMap<string, LimitedMachine>;
  /** Permits of open runs, on all sites. */
  readonly held: readonly Permit[];
  readonly offset: ZoneOffset;
}

/** What a machine waits for. */
export type Obstacle =
  /** `of`: the rack; null for one whose machines are in no rack. */
  | { readonly kind: 'out_of_service'; readonly limit: OutOfServiceLimit; readonly of: string | null }
  | { readonly kind: 'at_once'; readonly limit: AtOnceLimit | RequestsLimit; readonly of: string | null }
  | Closed;

export type Answer =
  /** `takes`: whether its change takes a place of `out_of_service`. */
  { readonly may: true; readonly counted: boolean } | { readonly may: false; readonly waits: readonly Obstacle[] };

/** Whether a run may touch a machine now, or what it waits for. */
export const mayTouch = (
  { run, machine }: { readonly run: string; readonly machine: string },
  work: PermitWork,
  facts: PermitFacts,
  now: number,
): Answer => new Budgets(facts, now).ask(run, machine, work);

/** So many machines of a number; percentages are rounded down, to one at least. */
export const placesOf = (at_most: Amount, total: number): number =>
  typeof at_most === 'number' ? at_most : Math.max(1, Math.floor((total * Number.parseInt(at_most, 10)) / 100));

/** Machines of a site that use up a limit, and how many there are in each rack. */
class Tally {
  readonly #racksOf: (machine: string) => readonly (string | null)[];
  readonly #machines = new Set<string>();
  /** Of each rack, those in no known rack included: they may be in any. */
  readonly #inRack = new Map<string | null, number>();
  #elsewhere = 0;

  constructor(racksOf: (machine: string) => readonly (string | null)[]) {
    this.#racksOf = racksOf;
  }

  has(machine: string): boolean {
    return this.#machines.has(machine);
  }

  /** @param machine null: one of another site */
  add(machine: string | null): void {
    if (machine === null) {
      this.#elsewhere += 1;
      return;
    }
    if (this.#machines.has(machine)) return;
    this.#machines.add(machine);
    for (const rack of this.#racksOf(machine)) this.#inRack.set(rack, (this.#inRack.get(rack) ?? 0) + 1);
  }

  in(per: AtOnceLimit['per'], of: string | null): number {
    if (per === 'rack') return this.#inRack.get(of) ?? 0;
    return this.#machines.size + (per === 'maas' ? this.#elsewhere : 0);
  }
}

/** How much of each limit is used: asked, and taken from, machine after machine. */
export class Budgets {
  readonly #facts: PermitFacts;
  readonly #closed: Closed | null;
  readonly #racks: readonly (string | null)[];
  readonly #sizes = new Map<string | null, number>();
  /** Machines out of service. */
  readonly #out: Tally;
  /** Machines for which there is a permit to deploy. */
  readonly #deploying: Tally;
  /** The same of those for which there is a permit that asks MAAS to work on them. */
  readonly #atMaas: Tally;
  /** Machines that runs have permits for. */
  readonly #held = new Set<string>();

  constructor(facts: PermitFacts, now: number) {
    this.#facts = facts;
    this.#closed = closedAt(facts.limits, now, facts.offset);
    for (const { rack } of facts.machines.values()) this.#sizes.set(rack, (this.#sizes.get(rack) ?? 0) + 1);
    const known = [...this.#sizes.keys()].filter((rack) => rack !== null);
    this.#racks = known.length > 0 ? known : [null];
    const tally = () => new Tally((machine) => this.#racksOf(machine));
    [this.#out, this.#deploying, this.#atMaas] = [tally(), tally(), tally()];
    for (const [name, { standing }] of facts.machines) if (standing === 'out') this.#out.add(name);
    for (const permit of facts.held) this.take(permit);
  }

  ask(run: string, machine: string, work: PermitWork): Answer {
    const counted = this.#isServing(machine);
    if (this.#held.has(keyOf(run, this.#facts.site, machine))) return { may: true, counted };
    const waits: Obstacle[] = [];
    if (this.#closed !== null) waits.push(this.#closed);
    if (work !== 'release' && counted && !this.#out.has(machine))
      for (const limit of this.#facts.limits.out_of_service)
        for (const of of this.#placesFor(limit.per, machine))
          if (this.#out.in(limit.per, of) >= this.placesIn(limit, of))
            waits.push({ kind: 'out_of_service', limit, of });
    if (work === 'deploy' && !this.#deploying.has(machine))
      for (const limit of this.#facts.limits.at_once)
        for (const of of this.#placesFor(limit.per, machine))
          if (this.#deploying.in(limit.per, of) >= limit.deploying) waits.push({ kind: 'at_once', limit, of });
    if (work !== 'tasks' && !this.#atMaas.has(machine))
      for (const limit of this.#facts.limits.requests ?? [])
        for (const of of this.#placesFor(limit.per, machine))
          if (this.#atMaas.in(limit.per, of) >= limit.requests) waits.push({ kind: 'at_once', limit, of });
    return waits.length === 0 ? { may: true, counted } : { may: false, waits };
  }

  take({ site, machine, run, work, counted }: Permit): void {
    this.#held.add(keyOf(run, site, machine));
    const isOwn = site === this.#facts.site;
    if (isOwn && counted) this.#out.add(machine);
    if (work === 'deploy') this.#deploying.add(isOwn ? machine : null);
    if (work !== 'tasks') this.#atMaas.add(isOwn ? machine : null);
  }

  /** How many machines of a site or rack may be out of service. */
  placesIn({ per, at_most }: OutOfServiceLimit, of: string | null): number {
    return placesOf(at_most, per === 'site' ? this.#facts.machines.size : (this.#sizes.get(of) ?? 0));
  }

  /** One that the documents do not have is known to serve nothing. */
  #isServing(machine: string): boolean {
    const known = this.#facts.machines.get(machine);
    return known !== undefined && known.standing !== 'new';
  }

  #placesFor(per: AtOnceLimit['per'], machine: string): readonly (string | null)[] {
    return per === 'rack' ? this.#racksOf(machine) : [null];
  }

  /** A machine whose rack is not known may be in any. */
  #racksOf(machine: string): readonly (string | null)[] {
    const rack = this.#facts.machines.get(machine)?.rack ?? null;
    return rack === null ? this.#racks : [rack];
  }
}

const keyOf = (run: string, site: string, machine: string): string => `${run}\n${site}\n${machine}`;
