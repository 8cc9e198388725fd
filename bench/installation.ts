import { join } from 'node:path';
import { simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { Client, Connection } from '@temporalio/client';
import { freePort } from '../src/platform/free-port.ts';
import { openStore } from '../src/store/index.ts';
import { resolvedRevision } from '../test/rig/resolved-revision.ts';
import { type Bystander, type Seen, watchBystander } from './bystander.ts';
import type { Databases, Sizes } from './databases.ts';
import { type Program, startProgram, type Usage, usageOf } from './processes.ts';
import type { Json } from './recorded-cluster.ts';
import { LIBRARY, type StoredCluster, storeRecordedCluster } from './recorded-installation.ts';
import { siteDocuments } from './site-documents.ts';

const SITE = 'bench';
/** Of the recorded library: a task of every node. */
const EVERYWHERE = 'update_hosts';
const GROUPS = 5;
/** What can be asked of an API during a run. */
export type Read = 'page' | 'status' | 'list' | 'counts' | 'tasks';
export type Group = 'temporal' | 'postgres' | 'workers' | 'apis' | 'agents';

/** What a run took. */
export interface Timed {
  readonly seconds: number;
  /** Tasks of a graph that were executed, or machines deployed. */
  readonly done: number;
  /** Processor seconds during the run, and most memory. */
  readonly usage: Readonly<Record<Group, Usage>>;
  /** What was read meanwhile; of the two APIs, the slower one. */
  readonly reads: Readonly<Partial<Record<Read, Seen>>>;
  /** Growth on disk, and committed transactions. */
  readonly grown: Sizes;
  readonly commits: Sizes | undefined;
}

/** Who reads during a run: at how many APIs, what, and how often each. */
interface Readers {
  readonly apis: 1 | 2;
  readonly reads: readonly Read[];
  readonly everyMs: number;
}

const AT_BOTH: Readers = { apis: 2, reads: ['page', 'status', 'list'], everyMs: 500 };

/** Sitewright on databases: two APIs, workers as requested, agents that end tasks immediately, and a simulated MAAS. */
export class Installation {
  readonly databases: Databases;
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #maasPort: number;
  readonly #machines: readonly string[];
  readonly #cluster: StoredCluster;
  readonly #connection: Connection;
  readonly #readers: Readers;
  readonly #client: Client;
  readonly #apis: { readonly url: string; readonly program: Program }[] = [];
  #workers: Program[] = [];
  #agents: Program | undefined;

  private constructor(
    databases: Databases,
    folder: string,
    maasPort: number,
    machines: readonly string[],
    cluster: StoredCluster,
    connection: Connection,
    readers: Readers,
  ) {
    this.#readers = readers;
    this.databases = databases;
    this.#folder = folder;
    this.#maasPort = maasPort;
    this.#machines = machines;
    this.#cluster = cluster;
    this.#connection = connection;
    this.#client = new Client({ connection });
    this.#env = {
      SITEWRIGHT_TEMPORAL_ADDRESS: databases.address,
      SITEWRIGHT_STORE_URL: databases.storeUrl,
      SITEWRIGHT_TASK_LOGS_FOLDER: join(folder, 'task-logs'),
      // All workers are on this host, so they share the journals of its tasks.
      SITEWRIGHT_AGENT_STATE_DIR: join(folder, 'agents'),
      SITEWRIGHT_MAAS_URL: `http://127.0.0.1:${maasPort}/MAAS`,
      SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
      SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.5',
      SITEWRIGHT_LOG_FORMAT: 'json',
    };
  }

  static async on(
    databases: Databases,
    folder: string,
    nodes: number,
    machines: number,
    readers = AT_BOTH,
  ): Promise<Installation> {
    const names = Array.from({ length: machines }, (_unused, at) => `m${String(at).padStart(4, '0')}`);
    const store = await openStore(databases.storeUrl);
    await store.migrate();
    const cluster = await storeRecordedCluster(store, 'recorded', nodes);
    await store.sites.create({ name: SITE });
    const text = siteDocuments(names, GROUPS);
    await store.sites.addRevision(SITE, resolvedRevision([{ name: 'site.yaml', text }]));
    await store.close();
    const connection = await Connection.connect({ address: databases.address });
    const port = await freePort();
    const installation = new Installation(databases, folder, port, names, cluster, connection, readers);
    await installation.useWorkers(1);
    for (const name of ['api-1', 'api-2'].slice(0, readers.apis)) {
      const own = await freePort();
      const url = `http://127.0.0.1:${own}`;
      const isReady = () =>
        fetch(`${url}/health/live`).then(
          ({ ok }) => ok,
          () => false,
        );
      const env = { SITEWRIGHT_API_PORT: String(own) };
      const program = await installation.#start(name, ['bin/sitewright', 'api'], isReady, env);
      installation.#apis.push({ url, program });
    }
    const agents = ['bench/agents-at-once.ts', cluster.site, ...cluster.nodes];
    // They represent a thousand other machines, so they get the processor time that the rest leaves.
    installation.#agents = await installation.#start('agents', agents, says('agents are polling'), {}, LAST);
    // Queues are created on first use, and the first plan starts the planner: that is not measured.
    await installation.#graph({ tasks: [EVERYWHERE] });
    return installation;
  }

  /** Address of an API. */
  get url(): string {
    return this.#apis[0]!.url;
  }

  /** Stops the workers and starts as many. */
  async useWorkers(count: number): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
    this.#workers = await Promise.all(
      Array.from({ length: count }, (_unused, at) =>
        this.#start(`worker-${at + 1}`, ['bin/sitewright', 'worker'], says('worker is polling')),
      ),
    );
  }

  #start(
    name: string,
    command: readonly string[],
    isReady: IsReady,
    env = {},
    before: readonly string[] = [],
  ): Promise<Program> {
    const whole = [...before, process.execPath, ...command];
    return startProgram(this.#folder, name, whole, { ...this.#env, ...env }, isReady);
  }

  /** Runs the recorded library, on all nodes or the first ones. */
  runGraph(nodes = this.#cluster.ids.length): Promise<Timed> {
    return this.#timed((watch) => this.#graph({ nodes: this.#cluster.ids.slice(0, nodes) }, watch));
  }

  /** Deploys the site's machines, which are new. */
  async deploySite(): Promise<Timed> {
    const simulator = await simulateMaas({
      port: this.#maasPort,
      seed: { machines: this.#machines.map((hostname) => ({ hostname, status: 0, power_type: 'ipmi' })) },
      auto: { commission_ms: 500, deploy_ms: 1_000 },
    });
    try {
      return await this.#timed(async (watch) => {
        const run = await this.#post(`/api/v1/sites/${SITE}/runs`, { kind: 'deploy_site' });
        await watch(run.id);
        const { outcome } = await this.#client.workflow.getHandle(run.workflow_id).result();
        if (outcome !== 'success') throw new Error(`deploy_site ended with ${outcome}`);
        return this.#machines.length;
      });
    } finally {
      await simulator.close();
    }
  }

  /** @returns number of tasks executed */
  async #graph(
    choice: { readonly nodes?: readonly number[]; readonly tasks?: readonly string[] },
    watch: (run: string) => Promise<void> = async () => undefined,
  ): Promise<number> {
    const graphs = [{ type: LIBRARY, ...choice }];
    const body = { cluster: this.#cluster.id, graphs, noop_run: true, force: true };
    const { workflow_id, run } = await this.#post('/api/v1/graphs/execute/', body);
    await watch(run ?? workflow_id);
    const handle = this.#client.workflow.getHandle(workflow_id);
    const { outcome } = await handle.result();
    if (outcome !== 'success') throw new Error(`execute_graph ended with ${outcome}`);
    const { graphs: counted } = await this.#answer(`/api/v1/runs/${encodeURIComponent(run ?? workflow_id)}/counts`);
    return counted[0].done;
  }

  async #timed(work: (watch: (run: string) => Promise<void>) => Promise<number>): Promise<Timed> {
    const { databases } = this;
    const [sizes, commits] = [await databases.sizes(), await databases.commits()];
    const roots = {
      ...databases.pids,
      workers: this.#workers.map(({ pid }) => pid),
      apis: this.#apis.map(({ program }) => program.pid),
      agents: [this.#agents!.pid],
    };
    const bystanders = new Map<Read, readonly Bystander[]>();
    const before = usageOf(roots);
    const samples: Record<Group, Usage>[] = [];
    const sampling = setInterval(() => samples.push(usageOf(roots)), 3_000);
    const from = performance.now();
    let seconds: number;
    let done: number;
    try {
      done = await work(async (run) => {
        const one = `/api/v1/runs/${encodeURIComponent(run)}`;
        const ofRun = { status: `${one}/status`, counts: `${one}/counts`, tasks: `${one}/tasks?limit=100` };
        const paths = { page: '/', list: '/api/v1/runs', ...ofRun };
        for (const read of this.#readers.reads) bystanders.set(read, await this.#watch(paths[read]));
      });
      seconds = (performance.now() - from) / 1_000;
    } finally {
      clearInterval(sampling);
    }
    const after = usageOf(roots);
    samples.push(after);
    const usage = (group: Group): Usage => ({
      seconds: after[group].seconds - before[group].seconds,
      megabytes: Math.max(...samples.map((sample) => sample[group].megabytes)),
    });
    const reads = await Promise.all([...bystanders].map(async ([read, both]) => [read, await slower(both)] as const));
    const now = { sizes: await databases.sizes(), commits: await databases.commits() };
    return {
      seconds,
      done,
      usage: {
        temporal: usage('temporal'),
        postgres: usage('postgres'),
        workers: usage('workers'),
        apis: usage('apis'),
        agents: usage('agents'),
      },
      reads: Object.fromEntries(reads),
      grown: difference(now.sizes, sizes),
      commits: now.commits && commits && difference(now.commits, commits),
    };
  }

  #watch(path: string): Promise<Bystander[]> {
    return Promise.all(
      this.#apis.map(({ url, program }) =>
        watchBystander({ url, pid: program.pid, path, everyMs: this.#readers.everyMs }),
      ),
    );
  }

  async #post(path: string, body: object): Promise<Json> {
    return this.#answer(path, { method: 'POST', headers: JSON_BODY, body: JSON.stringify(body) });
  }

  async #answer(path: string, request?: RequestInit): Promise<Json> {
    const answer = await fetch(`${this.#apis[0]!.url}${path}`, request);
    if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Json;
  }

  /** What went wrong in the processes, from their logs. */
  async complaints(): Promise<string[]> {
    const programs = [...this.#workers, ...this.#apis.map(({ program }) => program), this.#agents];
    const logs = await Promise.all(programs.map(async (program) => (await program?.log()) ?? ''));
    return logs.flatMap((log) => log.split('\n').filter((line) => /"level":"?(?:warn|error|40|50)/.test(line)));
  }

  async stop(): Promise<void> {
    await Promise.all([this.#agents?.stop(), ...this.#workers.map((worker) => worker.stop())]);
    await Promise.all(this.#apis.map(({ program }) => program.stop()));
    await this.#connection.close();
  }
}

/** Stands before a command that runs when nothing else wants to. */
const LAST = ['nice', '-n', '19'];

type IsReady = Parameters<typeof startProgram>[4];

const says =
  (text: string): IsReady =>
  (log) =>
    log.includes(text);

const JSON_BODY = { 'content-type': 'application/json' };

const difference = (after: Sizes, before: Sizes): Sizes => ({
  temporal: after.temporal - before.temporal,
  store: after.store - before.store,
});

async function slower(both: readonly Bystander[]): Promise<Seen> {
  const seen = await Promise.all(
    both.map(async (bystander) => {
      const phase = await bystander.phase();
      await bystander.stop();
      return phase;
    }),
  );
  return {
    ...seen.reduce((one, other) => (other.p95 > one.p95 ? other : one)),
    requests: seen.reduce((sum, { requests }) => sum + requests, 0),
    failed: seen.reduce((sum, { failed }) => sum + failed, 0),
  };
}
