import {
  type ControlJudge,
  type ControlOrder,
  type LogChunk,
  type Order,
  OrderRefused,
  type OrderSource,
  type Verifier,
} from '../../../src/agent/index.ts';
import { executionKey } from '../../../src/core/task-on-node.ts';
import { HandOut } from '../../../src/gateway/hand-out.ts';
import { SigningKeys, verifyControl, verifyOrder } from '../../../src/gateway/identity/index.ts';
import { Refusal } from '../../../src/gateway/refusal.ts';
import { startedLookup } from '../../../src/platform/temporal/started-lookup.ts';
import { deferred, NotFound } from '../../../src/simulation/temporal/index.ts';
import { storeOrderBook } from '../../../worker/parts/gateway-orders.ts';
import { lookupsOf, type Observer } from '../../../worker/parts/simulation/installation.ts';
import { storePort } from '../../../worker/parts/simulation/store-port.ts';
import { pause, type World } from '../../../worker/parts/simulation/world.ts';
import { signingGate } from '../../../worker/parts/start-gate.ts';
import { Machine, type Process } from './machine.ts';

const LIMIT_MS = 60_000;

/** What agents ask the gateway. */
interface GatewayClientOfNode extends OrderSource, ControlJudge {
  readonly verify: Verifier;
}

interface Running {
  readonly process: Process;
  readonly handOut: HandOut;
  readonly keys: SigningKeys;
}

/** The process of the gateway, with its real rules, keys and order book, behind a network from the seed. */
export class SimulatedGateway {
  readonly #world: World;
  readonly #observer: Pick<Observer, 'askedHold' | 'store'>;
  readonly #machine: Machine;
  readonly #site: string;
  #running: Running | undefined;
  #pinned: ReturnType<SigningKeys['publicKeys']> | undefined;

  constructor(world: World, observer: Pick<Observer, 'askedHold' | 'store'>, site: string) {
    this.#world = world;
    this.#observer = observer;
    this.#site = site;
    this.#machine = new Machine('gateway', world.time, world.random.fork('gateway machine'), (line) =>
      world.tell(line),
    );
    this.start();
  }

  start(): void {
    if (this.#running?.process.isAlive) return;
    const world = this.#world;
    this.#machine.start('sitewright-gateway', (process) => {
      const store = storePort(world, this.#observer.store);
      const keys = new SigningKeys('/var/lib/sitewright/gateway');
      keys.publicKeys();
      const gate = signingGate(store, lookupsOf(world, this.#observer), startedLookup(this.#described));
      const handOut = new HandOut({
        orders: storeOrderBook(store, gate),
        orderKeys: keys,
        identities: store.nodeIdentities,
        secrets: { read: async () => ({ kind: 'absent' }) } as never,
        sources: { read: async () => new Uint8Array() },
        alarms: async ({ node, kind, message }) =>
          world.tell(`the gateway raises an alarm about ${node}: ${kind}, ${message}`),
        now: () => new Date(),
      });
      this.#running = { process, handOut, keys };
    });
  }

  kill(downMs: number): void {
    if (!this.#running?.process.isAlive) return;
    this.#world.tell('the gateway is killed');
    this.#machine.end(this.#running.process, { signal: 'SIGKILL' });
    this.#world.time.after(downMs, () => this.start());
  }

  stop(): void {
    if (this.#running !== undefined) this.#machine.end(this.#running.process, { code: 0 });
  }

  readonly #described = async (workflowId: string, runId: string | null) => {
    const { temporal } = this.#world;
    await pause(this.#machine.random.int(1, 8));
    if (this.#world.outages.has('temporal')) throw new Error('14 UNAVAILABLE: simulated');
    try {
      const { activities, children } = temporal.current(temporal.find(workflowId, runId));
      return {
        activities: [...activities.values()].map(({ policy }) => policy.activityId),
        children: [...children.values()].map((child) => ({ workflowId: child.workflowId, runId: child.runId ?? '' })),
      };
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  };

  /** The client in the agent of a node. */
  clientOf(node: string): GatewayClientOfNode {
    const caller = { site: this.#site, node };
    const keys = () => this.#keys();
    return {
      fetch: (key) => this.#ask<Order>(({ handOut }) => handOut.order(caller, key)),
      secret: (ref, key) => this.#ask(({ handOut }) => handOut.secret(caller, key, ref)),
      source: (path, key) => this.#ask(({ handOut }) => handOut.source(caller, key, path)),
      ship: (key, _chunk: LogChunk) => this.#ask(({ handOut }) => handOut.own(caller, key)),
      verify: (order, key) => {
        const verdict = verifyOrder(order, { ...key, ...caller }, keys(), new Date());
        return verdict.ok ? undefined : `was not run: ${verdict.message}`;
      },
      cancelled: async (key) => {
        const proof = await this.#proof(({ handOut }) => handOut.cancel(caller, key));
        return this.#order(proof, { verb: 'cancel', site: this.#site, ...executionKey(key) });
      },
      drained: async (_node, instance) => {
        const proof = await this.#proof(({ handOut }) => handOut.drain(caller, instance));
        return this.#order(proof, { verb: 'drain', ...caller, instance });
      },
    };
  }

  /** As nodes pin them. */
  #keys() {
    const { process, keys } = this.#running!;
    return (this.#pinned ??= this.#world.time.hosts.run(process.host, () => keys.publicKeys()));
  }

  #proof(work: (of: Running) => Promise<string>): Promise<string | undefined> {
    return this.#ask(work).catch((error: unknown) => {
      if (error instanceof OrderRefused) return undefined;
      throw error;
    });
  }

  #order(proof: string | undefined, target: Parameters<typeof verifyControl>[1]): ControlOrder | undefined {
    if (proof === undefined) return undefined;
    const verdict = verifyControl(proof, target, this.#keys(), new Date());
    return verdict.ok ? verdict.order : undefined;
  }

  async #ask<T>(work: (of: Running) => Promise<T>): Promise<T> {
    const world = this.#world;
    const { random } = this.#machine;
    await pause(random.int(1, 10));
    const running = this.#running;
    if (world.outages.has('gateway') || !running?.process.isAlive) throw new Error('ECONNREFUSED');
    const limit = deferred<never>();
    const timer = setTimeout(() => limit.reject(new Error('the gateway did not answer in time')), LIMIT_MS);
    try {
      const answer = await Promise.race([
        world.time.hosts.run(running.process.host, () => work(running)),
        limit.promise,
      ]);
      await pause(random.int(1, 10));
      return answer;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw error.status >= 500 ? new Error(error.message) : new OrderRefused(error.message);
    } finally {
      clearTimeout(timer);
    }
  }
}
