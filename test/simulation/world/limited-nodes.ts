import type { Random } from '@sitewright/temporal-simulator';
import { fromPayload } from '../../../packages/temporal-simulator/src/sdk.ts';
import type { World } from '../../../worker/parts/rehearsals/world.ts';
import { LimitChecks } from './limit-checks.ts';
import { limitsFrom } from './limits.ts';
import type { SimulatedNode } from './node-agent.ts';
import { revisionOf } from './site-seed.ts';

/** How often the inventory hears which agents answer, and after which silence one counts as offline. */
const HEARD_EVERY_MS = 30_000;
const SILENT_AFTER_MS = 60_000;

const STRATEGY = {
  ...{ parallel: 1, deployTimeout: 900 },
  strategy: { groups: [{ name: 'all', critical: false, depends_on: [], selectors: [] }] },
};

/** A site whose documents limit the changes of the nodes of its clusters. */
export class LimitedNodes {
  readonly random: Random;
  readonly checks: LimitChecks;
  readonly #world: World;
  readonly #site: string;
  #nodes: readonly { readonly name: string; readonly tags: []; readonly rack: string }[] = [];
  /** Since when an agent does not answer. */
  readonly #silent = new Map<string, number>();

  /** Names of checks that its documents have. */
  readonly #asked: readonly string[];

  constructor(world: World, site: string, random: Random, asked: readonly string[]) {
    this.#world = world;
    this.#site = site;
    this.random = random;
    this.#asked = asked;
    this.checks = new LimitChecks(world, site, random);
  }

  /** @param names in the order of their ids, from 1 on */
  async open(names: readonly string[]): Promise<void> {
    this.#nodes = names.map((name) => ({ name, tags: [], rack: `r${this.random.int(1, 2)}` }));
    await this.limits(this.random);
  }

  /** A person commits documents with other limits. */
  async limits(random: Random): Promise<void> {
    const limits = limitsFrom(random, this.#world.time.now, 'not');
    await this.#world.store.sites.addRevision(this.#site, revisionOf(STRATEGY, this.#nodes, limits.data, this.#asked));
    await this.checks.commits(limits, this.#nodes);
  }

  rackOf(name: string): string | undefined {
    return this.#nodes.find((node) => node.name === name)?.rack;
  }

  maintenance(random: Random): Promise<void> {
    return this.checks.maintenance(random.pick(this.#nodes).name);
  }

  /** A task starts on a node, in truth. One that only asks a check needs no permit. */
  starts(name: string, task: string, run: string, nodes: readonly SimulatedNode[]): void {
    const owner = this.#world.temporal.executions.find(({ runId }) => run.endsWith(`.${runId}`));
    if (owner === undefined || fromPayload<{ readonly mode?: string }>(owner.input[0]).mode !== undefined) return;
    const busy = nodes.flatMap(({ name: other, effects }) => {
      const last = effects.at(-1);
      return other === name || last?.endedAt !== null || last.asks ? [] : [[runOf(last.run), other] as const];
    });
    this.checks.begins(runOf(run), name, busy, `${name} starts ${task} of ${owner.workflowId}`);
  }

  /** The inventory hears which agents answer. */
  watch(nodes: readonly SimulatedNode[]): void {
    const { time } = this.#world;
    const look = (): void => {
      for (const [at, { name, hasAgent }] of nodes.entries()) {
        const since = hasAgent ? undefined : (this.#silent.get(name) ?? time.now);
        if (since === undefined) this.#silent.delete(name);
        else this.#silent.set(name, since);
        const online = since === undefined || time.now - since < SILENT_AFTER_MS;
        if (this.checks.isOnline(at + 1) !== online) void this.checks.changes(at + 1, { online });
      }
      time.after(HEARD_EVERY_MS, look);
    };
    look();
  }
}

/** The run in the name of a graph's run on nodes. */
const runOf = (name: string): string => name.slice(name.indexOf('.') + 1);
