/**
 * Which files five requests pass from the command to their effect: `npm run journeys`. Frames count. The way ends where a library
 * takes over: at the statement, the call of Temporal, or the file. Files that only lend a function to one on the way do not count.
 */
import fs from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { callPath } from './journeys/call-path.ts';

interface Effect {
  readonly what: string;
  readonly path: readonly string[];
}

let effects: Effect[] = [];
const note = (what: string): void => void effects.push({ what, path: callPath() });

const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (this: DatabaseSync, statement, ...more) {
  note(`sql ${statement}`);
  return prepare.call(this, statement, ...more);
};
const { openSync } = fs;
fs.openSync = (file, ...more) => {
  note(`file ${String(file)}`);
  return openSync(file, ...more);
};
syncBuiltinESMExports();
const { fetch } = globalThis;
globalThis.fetch = async (input, init) => {
  note(`http ${init?.method ?? 'GET'} ${String(input)}`);
  return fetch(input, init);
};

// Everything of ours is loaded after its functions are made to tell their files.
const { default: Long } = await import('long');
const { Client, Connection } = await import('@temporalio/client');
const { runCli } = await import('../src/cli/shell/run-cli.ts');
const { createApi } = await import('../src/api/index.ts');
const { createOperations } = await import('../src/ops/index.ts');
const { createLogger } = await import('../src/platform/telemetry/log.ts');
const { openStore } = await import('../src/store/index.ts');
const { TaskLogs } = await import('../src/agent/output/task-logs.ts');
const { graphRunName } = await import('../src/core/graph-run/title.ts');
const { environment } = await import('../test/api/fuel-graphs-rig.ts');
const { recordingTerminal } = await import('../test/unit/cli/recording-terminal.ts');

/** Hooks before a handler, of which the guard counts; and what Kysely calls, only with SQLite. */
const BESIDE = /^src\/(api\/access|store\/sqlite)\//;
const UPLOAD = 'graph upload --cluster 1 --type mine --file graph.json';

const folder = await mkdtemp(join(tmpdir(), 'sitewright-journeys-'));
const store = await openStore(join(folder, 'store.db'));
await store.migrate();

/** Nothing is there but open runs; what is asked of them is noted. */
const connection = Connection.lazy({ address: '127.0.0.1:1' });
const workflowService = new Proxy(connection.workflowService, {
  get: (_, call: string) => async () => {
    note(`temporal ${call}`);
    if (call !== 'describeWorkflowExecution') throw Object.assign(new Error('noted'), { code: 12, details: 'noted' });
    const execution = { workflowId: 'deploy_site:dc1', runId: 'first' };
    const number = Long.fromNumber(1);
    const startTime = { seconds: number, nanos: 0 };
    const about = {
      status: 1,
      type: { name: 'deploy_site' },
      historyLength: number,
      historySizeBytes: number,
      startTime,
    };
    const workflowExecutionInfo = { execution, ...about, taskQueue: 'none', memo: {}, searchAttributes: {} };
    return { workflowExecutionInfo, executionConfig: {}, pendingActivities: [], pendingChildren: [] };
  },
});
Object.defineProperty(connection, 'workflowService', { value: workflowService });
const client = new Client({ connection });
const taskLogs = new TaskLogs({ folder: join(folder, 'logs') });
const operations = createOperations({
  store,
  temporal: { client, connection, namespace: 'default', taskQueue: 'none', address: '127.0.0.1:1' },
  maas: () => {
    throw new Error('no MAAS here');
  },
  taskLogs,
});
const api = await createApi(operations, {
  log: createLogger({ level: 'silent', format: 'json' }, 'api'),
  version: '1',
});
await api.listen({ host: '127.0.0.1', port: 0 });
const url = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;

const { cluster } = await environment(store);
await store.sites.create({ name: 'dc1' });
const startedAt = new Date().toISOString();
const run = { sequence: 1, phase: 'baremetal', startedAt, temporalRunId: 'first' };
await store.runs.put({ ...run, id: 'one', kind: 'deploy_site', site: 'dc1', workflowId: 'deploy_site:dc1' });
const ofGraphs = { workflowId: `execute_graph:${cluster}:1`, temporalRunId: 'first' };
const { run: transaction, graphs } = await store.transactions.createRun({
  clusterId: cluster,
  ...ofGraphs,
  graphs: [{ graphType: 'default' }],
} as never);
await store.runs.put({ ...run, ...ofGraphs, id: 'two', number: transaction.id, kind: 'execute_graph' } as never);
const key = { run: graphRunName(graphs[0]!.id, 'first'), task: 'ntp', node: '1', generation: 1 };
taskLogs.append(key, { kind: 'output', stream: 'stdout', offset: 0, bytes: Buffer.from('done\n') });
await writeFile(
  join(folder, 'graph.json'),
  '[{"id":"ntp","type":"shell","version":"2.1.0","parameters":{"cmd":"true"}}]',
);

/** The command of each journey, what its request and its effect are, and how many files it may pass. */
const JOURNEYS = [
  ['list nodes', 'node list', /GET .*\/nodes/, /sql select .* from "node"/, 7],
  ['store a graph', UPLOAD, /POST .*deployment_graphs/, /sql insert into "graph/, 9],
  ['start a deploy', 'site deploy dc1', /POST .*\/runs/, /temporal executeMultiOperation/, 9],
  ['pause a run', 'run pause one', /POST .*\/pause/, /temporal updateWorkflowExecution/, 9],
  ['show a log', `run logs ${transaction.id} ntp@1`, /GET .*\/log/, /file .*logs.*stdout/, 9],
] as const;

for (const [name, command, request, effect, most] of JOURNEYS) {
  effects = [];
  const terminal = recordingTerminal({ cwd: folder, env: { SITEWRIGHT_API: url, USER: 'nina' } });
  await runCli(command.split(' '), terminal);
  const asked = effects.find(({ what }) => request.test(what));
  const done = effects.find(({ what }) => effect.test(what));
  if (asked === undefined || done === undefined) throw new Error(`${name}: ${JSON.stringify(terminal.said)}`);
  const sent = asked.path.slice(asked.path.findIndex((file) => file.startsWith('src/cli/commands/')));
  const answered = done.path.filter((file) => !BESIDE.test(file));
  const files = [...new Set([...sent, 'src/api/access/guard.ts', ...answered])];
  console.log(`${name}: ${files.length}\n  ${files.join('\n  ')}`);
  if (files.length > most) process.exitCode = 1;
}
await api.close();
await store.close();
await rm(folder, { recursive: true });
process.exit();
