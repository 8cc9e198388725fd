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

/** How much of each limit is used: asked, and taken from, machine after machine. */
export class Budgets {
  readonly #facts: PermitFacts;
  readonly #closed: Closed | null;
  readonly #racks: readonly (string | null)[];
  readonly #sizes = new Map<string | null, number>();
  /** Machines out of service. */
  readonly #out = new Set<string>();
  /** Of each rack, those in no known rack included: they may be in any. */
  readonly #outOf = new Map<string | null, number>();
  /** Machines of the site for which there is a permit to deploy. */
  readonly #deploying = new Set<string>();
  readonly #deployingOf = new Map<string | null, number>();
  #deployingElsewhere = 0;
  /** The same of all machines for which there is a permit that asks MAAS to work on them. */
  readonly #atMaas = new Set<string>();
  readonly #atMaasOf = new Map<string | null, number>();
  #atMaasElsewhere = 0;
  /** Machines that runs have permits for. */
  readonly #held = new Set<string>();

  constructor(facts: PermitFacts, now: number) {
    this.#facts = facts;
    this.#closed = closedAt(facts.limits, now, facts.offset);
    for (const { rack } of facts.machines.values()) this.#sizes.set(rack, (this.#sizes.get(rack) ?? 0) + 1);
    const known = [...this.#sizes.keys()].filter((rack) => rack !== null);
    this.#racks = known.length > 0 ? known : [null];
    for (const [name, { standing }] of facts.machines) if (standing === 'out') this.#goesOut(name);
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
          if (this.#outIn(limit.per, of) >= this.placesIn(limit, of)) waits.push({ kind: 'out_of_service', limit, of });
    if (work === 'deploy' && !this.#deploying.has(machine))
      for (const limit of this.#facts.limits.at_once)
        for (const of of this.#placesFor(limit.per, machine))
          if (this.#deployingIn(limit.per, of) >= limit.deploying) waits.push({ kind: 'at_once', limit, of });
    if (work !== 'tasks' && !this.#atMaas.has(machine))
      for (const limit of this.#facts.limits.requests ?? [])
        for (const of of this.#placesFor(limit.per, machine))
          if (this.#requestsIn(limit.per, of) >= limit.requests) waits.push({ kind: 'at_once', limit, of });
    return waits.length === 0 ? { may: true, counted } : { may: false, waits };
  }

  take({ site, machine, run, work, counted }: Permit): void {
    this.#held.add(keyOf(run, site, machine));
    if (work !== 'tasks') this.#goesToMaas(site, machine);
    if (site !== this.#facts.site) {
      if (work === 'deploy') this.#deployingElsewhere += 1;
      return;
    }
    if (counted) this.#goesOut(machine);
    if (work !== 'deploy' || this.#deploying.has(machine)) return;
    this.#deploying.add(machine);
    for (const rack of this.#racksOf(machine)) this.#deployingOf.set(rack, (this.#deployingOf.get(rack) ?? 0) + 1);
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

  #goesOut(machine: string): void {
    if (this.#out.has(machine)) return;
    this.#out.add(machine);
    for (const rack of this.#racksOf(machine)) this.#outOf.set(rack, (this.#outOf.get(rack) ?? 0) + 1);
  }

  #goesToMaas(site: string, machine: string): void {
    if (site !== this.#facts.site) {
      this.#atMaasElsewhere += 1;
      return;
    }
    if (this.#atMaas.has(machine)) return;
    this.#atMaas.add(machine);
    for (const rack of this.#racksOf(machine)) this.#atMaasOf.set(rack, (this.#atMaasOf.get(rack) ?? 0) + 1);
  }

  #requestsIn(per: RequestsLimit['per'], of: string | null): number {
    if (per === 'rack') return this.#atMaasOf.get(of) ?? 0;
    return this.#atMaas.size + (per === 'maas' ? this.#atMaasElsewhere : 0);
  }

  #outIn(per: OutOfServiceLimit['per'], of: string | null): number {
    return per === 'site' ? this.#out.size : (this.#outOf.get(of) ?? 0);
  }

  #deployingIn(per: AtOnceLimit['per'], of: string | null): number {
    if (per === 'rack') return this.#deployingOf.get(of) ?? 0;
    return this.#deploying.size + (per === 'maas' ? this.#deployingElsewhere : 0);
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
