import type { LateNode, StepTime } from '../core/contracts/site-run.ts';
import type { NodeReport, RunReport } from '../core/contracts/site-run-report.ts';
import { given } from '../core/data/given.ts';
import { together } from '../core/data/together.ts';
import { type Call, DEPLOYING_KINDS } from '../core/words.ts';
import type { RunRecord, StorePorts } from '../store/index.ts';

/** Runs that are looked at, the newest ones of all sites. */
const MAX_RUNS = 20;
/** Fewer times of a step say little of what is rare, and are not told. */
const ENOUGH = 10;
/** So many times as long as 99 of 100 took, and a minute more, a step is stuck. */
const STUCK_FACTOR = 2;
const STUCK_MARGIN = 60;
/** More are not shown. */
const MAX_LATE = 20;
const KEPT_MS = 60_000;

/** Machines whose hardware MAAS does not know count as one model. */
const UNKNOWN = '';

interface Learned {
  readonly at: number;
  readonly times: readonly StepTime[];
  /** By site and node. */
  readonly models: ReadonlyMap<string, string>;
}

/** How long the steps of deployments have taken, by the model of the hardware; and which nodes of a run take longer. */
export class StepTimes {
  readonly #runs: Pick<StorePorts['runs'], 'list' | 'listNodes' | 'getReport'>;
  readonly #now: () => number;
  #learned: Promise<Learned> | null = null;

  constructor({ runs }: Pick<StorePorts, 'runs'>, now: () => number = Date.now) {
    this.#runs = runs;
    this.#now = now;
  }

  /** Of the models that these nodes of a site had in earlier runs; of a node that none has deployed, that of unknown hardware. */
  async of(site: string, nodes: readonly string[]): Promise<readonly StepTime[]> {
    const { times, models } = await this.#know();
    const wanted = new Set(nodes.map((node) => models.get(keyOf(site, node)) ?? UNKNOWN));
    return times.filter(({ model = UNKNOWN }) => wanted.has(model));
  }

  /** The nodes of an open run whose step takes longer than 99 of 100 earlier ones took, those longest over that first. */
  async late({ id, site }: Pick<RunRecord, 'id' | 'site'>): Promise<readonly LateNode[]> {
    if (site === null) return [];
    const { times, models } = await this.#know();
    if (times.length === 0) return [];
    const report = (await this.#runs.getReport(id)) as Partial<RunReport> | undefined;
    const late = (report?.baremetal?.nodes ?? []).flatMap((node): LateNode[] => {
      const [step, since] = stepOf(node);
      const model = node.model ?? models.get(keyOf(site, node.name)) ?? UNKNOWN;
      const usual = times.find((one) => one.step === step && (one.model ?? UNKNOWN) === model);
      if (step === undefined || since === undefined || usual === undefined) return [];
      const seconds = Math.floor((this.#now() - Date.parse(since)) / 1000);
      if (seconds <= usual.p99) return [];
      const isStuck = seconds > Math.max(usual.p99 * STUCK_FACTOR, usual.p99 + STUCK_MARGIN);
      return [{ ...usual, node: node.name, pace: isStuck ? 'stuck' : 'slow', since }];
    });
    const over = ({ since, p99 }: LateNode): number => this.#now() - Date.parse(since) - p99 * 1000;
    return late.toSorted((one, other) => over(other) - over(one)).slice(0, MAX_LATE);
  }

  #know(): Promise<Learned> {
    const known = this.#learned;
    this.#learned = (async () => {
      const before = await known?.catch(() => null);
      return before && this.#now() - before.at < KEPT_MS ? before : this.#learn();
    })();
    return this.#learned;
  }

  async #learn(): Promise<Learned> {
    const { items } = await this.#runs.list({ kind: DEPLOYING_KINDS, open: false, limit: MAX_RUNS });
    const models = new Map<string, string>();
    const took: { readonly model: string; readonly step: Call; readonly seconds: number }[] = [];
    for (const { id, site } of items) {
      for (const { report } of await this.#runs.listNodes(id)) {
        const { name, model = UNKNOWN, state, started_at, prepared_at, deploying_at, ended_at } = report;
        const key = keyOf(site ?? '', name);
        if (model !== UNKNOWN && !models.has(key)) models.set(key, model);
        for (const seconds of secondsBetween(started_at, prepared_at)) took.push({ model, step: 'prepare', seconds });
        if (state !== 'success') continue;
        for (const seconds of secondsBetween(deploying_at, ended_at)) took.push({ model, step: 'deploy', seconds });
      }
    }
    const times = [...together(took, ({ model, step }) => `${step} ${model}`).values()].map((all): StepTime => {
      const { model, step } = all[0]!;
      const sorted = all.map(({ seconds }) => seconds).toSorted((one, other) => one - other);
      const at = (share: number): number => Math.round(sorted[Math.ceil(share * sorted.length) - 1]!);
      return {
        ...given({ model: model === UNKNOWN ? undefined : model }),
        step,
        ...{ median: at(0.5), p99: at(0.99) },
        count: sorted.length,
      };
    });
    return { at: this.#now(), times: times.filter(({ count }) => count >= ENOUGH), models };
  }
}

const keyOf = (site: string, node: string): string => `${site}/${node}`;

/** What is at work on a node, and since when. */
function stepOf({ running, started_at, deploying_at }: NodeReport): [step?: Call, since?: string | undefined] {
  if (running === 'prepare') return [running, started_at];
  return running === 'deploy' ? [running, deploying_at] : [];
}

const secondsBetween = (from: string | undefined, to: string | undefined): number[] =>
  from === undefined || to === undefined ? [] : [(Date.parse(to) - Date.parse(from)) / 1000];
