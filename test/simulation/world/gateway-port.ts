import { X509Certificate } from 'node:crypto';
import { dirname } from 'node:path';
import type { RunTask } from '../../../src/core/task-on-node.ts';
import type { OpenTransport } from '../../../src/gateway/gateway-connection.ts';
import { GatewayRules, problemOf } from '../../../src/gateway/gateway-rules.ts';
import { CertificateAuthority } from '../../../src/gateway/identity/certificate-authority.ts';
import '../../../src/gateway/identity/certificate-request.ts';
import { deferred, NotFound } from '@sitewright/temporal-simulator';
import { fingerprintOf } from '../../../src/gateway/identity/key-pair.ts';
import { SigningKeys } from '../../../src/gateway/identity/signing-keys.ts';
import { issueTicket } from '../../../src/gateway/node-ticket.ts';
import { startedLookup } from '../../../src/runs/started-lookup.ts';
import { storeOrderBook } from '../../../worker/parts/gateway-orders.ts';
import { nodeFiles } from '../../../worker/parts/own-credentials.ts';
import { lookupsOf, type Observer } from '../../../worker/parts/rehearsals/installation.ts';
import { storePort } from '../../../worker/parts/rehearsals/store-port.ts';
import { pause, type World } from '../../../worker/parts/rehearsals/world.ts';
import { signingGate } from '../../../worker/parts/start-gate.ts';
import { controlQueue, nodeQueue } from '../../../workflows/protocol.ts';
import type { Disk } from './disk.ts';
import { Machine, type Process } from './machine.ts';

const DATA = '/var/lib/sitewright/gateway';
const LIMIT_MS = 60_000;

/** How rough the network between nodes and gateway is: probabilities of one request. */
export interface GatewayWeather {
  readonly gatewayLost: number;
  /** The gateway has done it, and the answer is lost. */
  readonly gatewayLosesAnswers: number;
  /** It arrives twice. */
  readonly gatewayDoubled: number;
  readonly gatewayLate: number;
  /** Something on the way cuts the answer, or answers itself. */
  readonly gatewayGarbled: number;
}

export const FAIR: GatewayWeather = {
  ...{ gatewayLost: 0, gatewayLosesAnswers: 0, gatewayDoubled: 0, gatewayLate: 0, gatewayGarbled: 0 },
};

interface Running {
  readonly process: Process;
  readonly rules: GatewayRules;
}

/** The process of the gateway, with its real rules, identities, signatures and order book, behind a network from the seed. */
export class SimulatedGateway {
  readonly #world: World;
  readonly #observer: Pick<Observer, 'askedHold' | 'store'>;
  readonly #machine: Machine;
  readonly #site: string;
  readonly #weather: () => GatewayWeather;
  #running: Running | undefined;

  constructor(
    world: World,
    observer: Pick<Observer, 'askedHold' | 'store'>,
    site: string,
    weather: () => GatewayWeather,
  ) {
    this.#world = world;
    this.#observer = observer;
    this.#site = site;
    this.#weather = weather;
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
      const gate = signingGate(store, lookupsOf(world, this.#observer), startedLookup(this.#described));
      const rules = new GatewayRules({
        authority: new CertificateAuthority(DATA),
        orderKeys: new SigningKeys(DATA),
        identities: store.nodeIdentities,
        orders: storeOrderBook(store, gate),
        secrets: { read: async () => ({ kind: 'absent' }) } as never,
        sources: { read: async () => new Uint8Array() },
        logs: { append: async () => undefined },
        alarms: async ({ node, kind, message }) =>
          world.tell(`the gateway raises an alarm about ${node}: ${kind}, ${message}`),
        temporal: { address: 'temporal.test:7233', namespace: 'default' },
        queues: (site, node) => ({ tasks: nodeQueue(site, node), control: controlQueue(nodeQueue(site, node)) }),
        now: () => new Date(),
      });
      this.#running = { process, rules };
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

  /** An operator makes a ticket for a node, and puts it on the node's disk. */
  async ticket(node: string, folder: string, disk: Disk): Promise<void> {
    const { store, time } = this.#world;
    const office = {
      ...{ dataDir: DATA, gatewayUrl: 'https://gateway.test:7443' },
      ...{ identities: store.nodeIdentities, tokenHours: 24 },
    };
    const ticket = await time.hosts.run(this.#machine.start('sitewright ticket', () => undefined).host, () =>
      issueTicket(office, this.#site, node),
    );
    const { ticket: path } = nodeFiles(folder);
    disk.makeFolder(dirname(path), true);
    const file = disk.open(path, { write: true, create: true, truncate: true }, 0o600);
    if (file.kind === 'file') disk.write(file, 0, Buffer.from(JSON.stringify(ticket)));
    disk.syncAll();
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

  /** Called when an order was signed. @param askedAt when it was asked for */
  signed: (order: RunTask, askedAt: number) => void = () => undefined;

  /** The network of an agent. */
  readonly transport: OpenTransport = (_address, identity) => {
    const fingerprint = identity === undefined ? undefined : fingerprintIn(identity.certificate);
    return {
      send: async (path, body) => {
        const world = this.#world;
        const { random } = this.#machine;
        const weather = this.#weather();
        const limit = deferred<never>();
        const timer = setTimeout(() => limit.reject(new Error('the gateway did not answer in time')), LIMIT_MS);
        const arrived = async (): Promise<{ status: number; content: Buffer }> => {
          await pause(random.chance(weather.gatewayLate) ? random.int(1_000, 90_000) : random.int(1, 10));
          const running = this.#running;
          if (world.outages.has('gateway') || !running?.process.isAlive) throw new Error('ECONNREFUSED: simulated');
          const askedAt = world.time.now;
          const answer = await world.time.hosts.run(running.process.host, () =>
            answerOf(running.rules, path, body, fingerprint),
          );
          if (path === '/v1/order' && answer.status === 200)
            this.signed(JSON.parse(body!.bytes.toString()) as RunTask, askedAt);
          return answer;
        };
        const asked = async (): Promise<{ status: number; content: Buffer }> => {
          if (random.chance(weather.gatewayLost)) throw new Error('ECONNRESET: simulated');
          if (random.chance(weather.gatewayDoubled)) void arrived().catch(() => undefined);
          const answer = await arrived();
          await pause(random.int(1, 10));
          if (random.chance(weather.gatewayLosesAnswers)) throw new Error('ECONNRESET: simulated');
          if (!random.chance(weather.gatewayGarbled)) return answer;
          if (random.chance(0.5)) return { status: 502, content: Buffer.from('<html>Bad Gateway</html>') };
          return { ...answer, content: answer.content.subarray(0, random.int(0, answer.content.length)) };
        };
        try {
          return await Promise.race([asked(), limit.promise]);
        } finally {
          clearTimeout(timer);
        }
      },
      close: async () => undefined,
    };
  };
}

const FINGERPRINTS = new Map<string, string>();

function fingerprintIn(certificate: string): string {
  const known = FINGERPRINTS.get(certificate) ?? fingerprintOf(new X509Certificate(certificate).raw);
  FINGERPRINTS.set(certificate, known);
  return known;
}

/** As the server over TLS. */
export async function answerOf(
  rules: GatewayRules,
  url: string,
  body: { readonly type: string; readonly bytes: Buffer } | undefined,
  fingerprint: string | undefined,
): Promise<{ status: number; content: Buffer }> {
  const [path = '', query = ''] = url.split('?');
  const content = body?.type === 'application/json' ? (JSON.parse(body.bytes.toString()) as unknown) : body?.bytes;
  try {
    const answer =
      path === '/v1/enrol'
        ? await rules.enrol(content)
        : await rules.routes[path]!.answer(
            await rules.callerOf(fingerprint),
            content,
            Object.fromEntries(new URLSearchParams(query)),
          );
    if (answer === undefined) return { status: 204, content: Buffer.alloc(0) };
    return { status: 200, content: Buffer.from(answer instanceof Uint8Array ? answer : JSON.stringify(answer)) };
  } catch (error) {
    const problem = problemOf(error);
    return { status: problem.status, content: Buffer.from(JSON.stringify(problem.body)) };
  }
}
