import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readComposeFile, readEnvFile } from '../rig/compose-file.ts';
import { ComposeProcesses } from '../rig/compose-processes.ts';
import { exampleDocuments, exampleHosts } from '../rig/living-site.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../rig/postgres.ts';
import { startTemporalServer, type TemporalServer, whyNoTemporalServer } from '../rig/temporal-server.ts';

const run = promisify(execFile);
const path = (of: string): string => fileURLToPath(new URL(`../../${of}`, import.meta.url));

const missing = (await whyNoPostgres()) ?? (await whyNoTemporalServer());
if (missing !== undefined) console.error(missing);

/** Two tasks a node, the second on all nodes after the first on all. */
const GREETING = [
  { id: 'greet', type: 'shell', version: '2.1.0', roles: ['/.*/'], parameters: { cmd: 'echo hello from $(hostname)' } },
  {
    id: 'count',
    type: 'shell',
    version: '2.1.0',
    roles: ['/.*/'],
    requires: ['greet'],
    cross_depends: [{ name: 'greet' }],
    parameters: { cmd: { yaql_exp: "'echo ' + str($.nodes.len()) + ' nodes'" } },
  },
];

/**
 * The services of docker-compose.yml with the profile `demo`, as processes: the same commands, environments and health
 * checks, on Debian's PostgreSQL and a Temporal server built from its Go modules with the configuration of its image.
 */
describe.skipIf(missing !== undefined)('the topology of docker-compose.yml, on PostgreSQL', () => {
  let folder: string;
  let postgres: PostgresServer;
  let temporal: TemporalServer;
  let system: ComposeProcesses;
  let token: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sitewright-topology-'));
    const variables = { ...readEnvFile('deploy/demo.env'), SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '0.2' };
    const compose = readComposeFile(variables);
    const database = { ...compose.services.postgresql!.environment };
    // The processes must run the current code.
    await run(process.execPath, [path('scripts/build.ts')]);
    postgres = await startPostgres();
    // The image makes its user the owner of everything.
    await postgres.query('postgres', `create role temporal superuser login password '${database.POSTGRES_PASSWORD}'`);
    const container = { ...database, PGHOST: '127.0.0.1', PGPORT: String(postgres.port) };
    const asUser = { PATH: process.env.PATH, PGPASSWORD: database.POSTGRES_PASSWORD, ...container };
    await run('bash', [path('deploy/postgresql/10-sitewright-store.sh')], { env: asUser });
    await postgres.query('postgres', 'create database temporal owner temporal');
    temporal = await startTemporalServer(
      { port: postgres.port, user: 'temporal', password: database.POSTGRES_PASSWORD! },
      compose.services.temporal!.environment!,
      folder,
    );
    const frontEnd = Number(temporal.address.split(':')[1]);
    // The model's machines are slow enough for people to watch; a test need not watch them.
    const pace = (text: string) => text.replace(/("(?:commission|deploy|release)_ms": )\d+/g, '$1100');
    const simulator = compose.services['maas-simulator']!;
    const services = {
      ...compose.services,
      'maas-simulator': { ...simulator, command: simulator.command!.map(pace) },
    };
    system = await ComposeProcesses.in({ ...compose, services }, folder, { 5432: postgres.port, 7233: frontEnd });
    // In an order that Compose may choose, too.
    await Promise.all([system.start('maas-simulator'), system.start('api'), system.start('worker')]);
    await Promise.all([system.start('gateway'), system.start('agents')]);
    token = await system.signIn();
  });

  afterAll(async () => {
    await system?.stop();
    await temporal?.stop();
    await postgres?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('the doctor finds everything a deployment needs', async () => {
    const findings = JSON.parse(await system.sitewright('doctor', '-f', 'json')) as { name: string; state: string }[];
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  });

  it('the API refuses requests without a token', async () => {
    const answer = await fetch(`http://127.0.0.1:${system.port('8080')}/api/v1/sites`);
    expect(answer.status).toBe(401);
  });

  it('a site is deployed, its report is kept, and lists of runs can be filtered', async () => {
    const documents = join(folder, 'documents');
    await mkdir(documents);
    for (const { name, text } of await exampleDocuments()) await writeFile(join(documents, name), text);
    await system.sitewright('site', 'create', 'stl1');
    await system.sitewright('site', 'commit', 'stl1', documents);
    const deployed = JSON.parse(await system.sitewright('site', 'deploy', 'stl1', '--yes', '--wait', '-f', 'json'));
    expect(deployed).toMatchObject({ outcome: 'success_with_failures', site: 'stl1' });
    expect(await system.sitewright('run', 'report', 'stl1')).toMatch(/Failed nodes \(1\)\n {2}stl1r01s06 {2}failed/);

    // As operations do: with none of our tools. Temporal's list lags behind the runs.
    const query = `SiteName = 'stl1' and RunPhase = 'success_with_failures' and FailedNodes = 1`;
    const list = ['workflow', 'list', '--address', temporal.address, '--query', query, '-o', 'json'];
    await expect
      .poll(async () => JSON.parse((await run(inject('temporalBinary'), list)).stdout))
      .toMatchObject([{ type: { name: 'deploy_site' }, execution: { workflowId: 'deploy_site:stl1' } }]);

    // Repaired, as the report recommends: only the failed machine is touched.
    const again = JSON.parse(await system.sitewright('site', 'deploy', 'stl1', '--yes', '--wait', '-f', 'json'));
    expect(again).toMatchObject({ outcome: 'success' });
  });

  it('the worker’s metrics have those of Temporal’s SDK, on which alert rules and dashboard rely', async () => {
    const text = await (await fetch(`http://127.0.0.1:${system.port('9464')}/metrics`)).text();
    expect(text).toMatch(
      /^sitewright_activity_duration_seconds_count\{activity="deploy_node",result="completed"\} \d/m,
    );
    for (const name of readFileSync(path('test/data/sdk-metrics.txt'), 'utf8').trim().split('\n'))
      expect(text).toContain(`\n# TYPE ${name} `);
  });

  it('a graph runs on its nodes, in the containers of their agents, and leaves its output', async () => {
    const file = join(folder, 'tasks.json');
    await writeFile(file, JSON.stringify(GREETING));
    await system.sitewright('package', 'install', path('examples/fuel-release'));
    await system.sitewright('cluster', 'create', 'lab', '--release', 'fuel-newton', '--site', 'stl1');
    const ids: string[] = [];
    for (const [at, hostname] of exampleHosts.entries()) {
      const answer = await fetch(`http://127.0.0.1:${system.port('8080')}/api/v1/nodes/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ mac: `52:54:00:00:01:0${at}`, name: hostname, status: 'provisioned', site: 'stl1' }),
      });
      expect(answer.status, await answer.clone().text()).toBe(201);
      ids.push(String(((await answer.json()) as { id: number }).id));
    }
    await system.sitewright('cluster', 'add-nodes', '1', '--nodes', ...ids, '--roles', 'compute');
    await system.sitewright('graph', 'upload', '--env', '1', '--type', 'greeting', '--file', file);
    const ended = await system.sitewright(
      'graph',
      'execute',
      '--env',
      '1',
      '--type',
      'greeting',
      '--wait',
      '-f',
      'json',
    );
    expect(JSON.parse(ended)).toMatchObject({ outcome: 'success' });
    const history = await system.sitewright('history', 'list', '--env', '1', '-f', 'json');
    expect(history).toContain('greeting');
  });

  it('operators start and watch a graph with the commands of docs/how-to/operating.md, and nothing of ours', async () => {
    const page = await readFile(path('docs/how-to/operating.md'), 'utf8');
    const documented = /^temporal (workflow start --type execute_graph .*)$/m.exec(page)?.[1] ?? '';
    const command = documented.replace('kernel-update', 'greeting');
    expect(command).toContain('"type":"greeting"');
    const temporalCli = async (line: string): Promise<string> => {
      const words = `"$0" ${line} --address ${temporal.address} -o json`;
      return (await run('bash', ['-c', words, inject('temporalBinary')])).stdout;
    };
    await temporalCli(command);
    const result = JSON.parse(await temporalCli('workflow result --workflow-id execute_graph:1:kernel'));
    expect(result).toMatchObject({ status: 'COMPLETED', result: { outcome: 'success', cluster: 1 } });
    const report = await temporalCli('workflow query --workflow-id execute_graph:1:kernel --type report');
    expect(report).toContain('greeting');
  });

  it('a dead service is reported unhealthy by its check', async () => {
    await temporal.stop();
    expect(await system.health('worker')).toMatch(/^unhealthy: /);
    expect(await system.health('api')).toBe('healthy');
    expect(await system.health('gateway')).toBe('healthy');
  });
});
