import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { ControlOrder, Execution, LogChunk } from '../../../src/agent/index.ts';
import type { EnrolmentTicket } from '../../../src/agent/onboarding/enrolment-ticket.ts';
import type { ExecutionKey, RunTask } from '../../../src/core/task-on-node.ts';
import { CertificateAuthority } from '../../../src/gateway/identity/certificate-authority.ts';
import { newEnrolmentToken, SigningKeys } from '../../../src/gateway/identity/signing-keys.ts';
import {
  auditedAlarms,
  createGateway,
  enrolNode,
  GatewayClient,
  type PlannedTask,
  sourceFilesBelow,
} from '../../../src/gateway/index.ts';
import { directorySecrets } from '../../../src/platform/secrets/directory-secrets.ts';
import { openStore, type Store } from '../../../src/store/index.ts';

/** A gateway on a real TLS port over a real store, whose plan, runs and clock the test controls. */
export class GatewayRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'sitewright-gateway-'));
  readonly tasks = new Map<string, PlannedTask>();
  readonly cancelledRuns = new Map<string, ControlOrder>();
  /** Content of sources in packages. */
  readonly packageFiles = new Map<string, string>();
  readonly drains = new Map<string, ControlOrder & { readonly id: string }>();
  /** Whether the run has started the requested task. */
  hasStarted: () => Promise<boolean> = async () => true;
  /** Runs once the gateway has checked a caller's certificate, before it acts on the request. */
  afterLookUp: () => Promise<unknown> = async () => undefined;
  /** The answer of the gate of runs. */
  mayStart: () => Promise<void> = async () => undefined;
  shipped: { key: ExecutionKey; chunk: LogChunk }[] = [];
  logLines: string[] = [];
  /** How far the clocks of nodes are ahead. */
  nodesAheadMs = 0;
  /** A name not used before in this rig. */
  run = 'r0';
  #tests = 0;
  #alarmsBefore: readonly string[] = [];
  readonly orderKeys = new SigningKeys(join(this.folder, 'gateway'));
  readonly authority = new CertificateAuthority(join(this.folder, 'gateway'));
  now = new Date();
  url = '';
  store!: Store;
  #gateway: FastifyInstance | undefined;
  #clients: GatewayClient[] = [];
  #folders = 0;

  async start(): Promise<this> {
    this.store = await openStore(`sqlite:${join(this.folder, 'store.db')}`);
    const log = pino({ level: 'trace' }, { write: (line: string) => void this.logLines.push(line) });
    const now = () => this.now;
    this.#gateway = createGateway(
      {
        authority: this.authority,
        orderKeys: this.orderKeys,
        identities: this.#identities(),
        alarms: auditedAlarms(this.store.audit, log, now),
        temporal: { address: 'temporal.example:7233', namespace: 'default', prefix: 'west' },
        queues: (site, node) => ({ tasks: `node.${site}.${node}`, control: `node.${site}.${node}.ctl` }),
        now,
        orders: {
          find: async ({ run, task, node }) => this.tasks.get(JSON.stringify([run, task, node])),
          mayStart: () => this.mayStart(),
          hasStarted: () => this.hasStarted(),
          cancelled: async (run) => this.cancelledRuns.get(run),
          drained: async (site, node) => this.drains.get(`${site}/${node}`),
        },
        secrets: directorySecrets(join(this.folder, 'secrets')),
        sources: {
          read: async (path) => {
            const inPackage = this.packageFiles.get(path);
            if (inPackage !== undefined) return Buffer.from(inPackage);
            return await sourceFilesBelow([join(this.folder, 'sources')]).read(path);
          },
        },
        logs: { append: async (key, chunk) => void this.shipped.push({ key, chunk }) },
        log,
      },
      this.authority.issueServer(['127.0.0.1', 'localhost']),
    );
    await this.#gateway.listen({ host: '127.0.0.1', port: 0 });
    this.url = `https://127.0.0.1:${(this.#gateway.server.address() as AddressInfo).port}`;
    return this;
  }

  /** Forgets the state of an earlier test; a restart would take longer. */
  async begin(): Promise<void> {
    this.run = `r${++this.#tests}`;
    this.tasks.clear();
    this.cancelledRuns.clear();
    this.drains.clear();
    this.mayStart = async () => undefined;
    this.hasStarted = async () => true;
    this.afterLookUp = async () => undefined;
    this.shipped = [];
    this.logLines = [];
    this.now = new Date();
    this.nodesAheadMs = 0;
    this.#alarmsBefore = (await this.#alarms()).map(({ id }) => id);
    rmSync(this.path('secrets'), { recursive: true, force: true });
    mkdirSync(this.path('secrets'));
  }

  #identities(): Store['nodeIdentities'] {
    const { nodeIdentities } = this.store;
    return new Proxy(nodeIdentities, {
      get: (target, name) => {
        if (name !== 'findCertificate') return (target[name as keyof typeof target] as () => unknown).bind(target);
        return async (fingerprint: string) => {
          const found = await target.findCertificate(fingerprint);
          await this.afterLookUp();
          return found;
        };
      },
    });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A folder that does not exist yet. */
  nodeFolder(): string {
    return join(this.folder, 'nodes', `${++this.#folders}`);
  }

  async ticket(site: string, node: string, minutes = 60): Promise<EnrolmentTicket> {
    const { token, hash } = newEnrolmentToken();
    const expiresAt = new Date(this.now.getTime() + minutes * 60_000).toISOString();
    await this.store.nodeIdentities.addToken({ hash, site, node, expiresAt });
    return { gateway: this.url, authority: this.authority.certificate, token };
  }

  /** A node that has its credentials. */
  async node(site: string, node: string): Promise<GatewayClient> {
    const folder = this.nodeFolder();
    return this.client(folder, await enrolNode(folder, await this.ticket(site, node)));
  }

  client(folder: string, credentials: Awaited<ReturnType<typeof enrolNode>>): GatewayClient {
    const client = new GatewayClient(folder, credentials, () => new Date(this.now.getTime() + this.nodesAheadMs));
    this.#clients.push(client);
    return client;
  }

  /** Puts a task into the plan of an open run; returns the queue's entry for it. */
  plan(execution: Execution, more: Partial<PlannedTask> = {}): RunTask {
    const { generation, ...rest } = execution;
    const { run, task, node, type, mode = 'apply' } = execution;
    const planned: PlannedTask = {
      site: 'dc1',
      uid: node,
      plan: 'p1',
      closed: undefined,
      execution: rest,
      latest: { generation: 0, state: 'open' },
      ...more,
    };
    this.tasks.set(JSON.stringify([run, task, node]), planned);
    return { run, task, node, generation, plan: planned.plan, type, mode };
  }

  /** The alarms that this test raised, by node and kind; sorted, because simultaneous ones have no order. */
  async alarms(): Promise<string[]> {
    const found = (await this.#alarms()).filter(({ id }) => !this.#alarmsBefore.includes(id));
    return found
      .map(({ target, details }) => `${target.slice(5)} ${String((details as { kind: string }).kind)}`)
      .sort();
  }

  async #alarms() {
    return (await this.store.audit.list({ action: 'agent.alarm', limit: 1000 })).items;
  }

  async tidy(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.#gateway?.close();
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
