// Sends requests made to hurt to an API of its own, and watches a bystander's latency, the memory of the process and
// answers of 500 and above: `node bench/aimed.ts [--any-latency]
// [name of a group …]`. Copy the table to bench/aimed-results.md.
import './bounded.ts';
import { parseArgs } from 'node:util';
import { AIMS, type Aim } from './aimed-requests.ts';
import { startApiProcess } from './api-process.ts';
import { watchBystander } from './bystander.ts';
import { type Answered, HarmTable } from './harm-table.ts';

/** Concurrent requests of a group. */
const AT_ONCE = 4;

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { 'any-latency': { type: 'boolean', default: false } },
});
const api = await startApiProcess({ SITEWRIGHT_LOG_LEVEL: 'warn', SITEWRIGHT_PACKAGES_BASE_RELEASE: 'off' });
const table = new HarmTable(values['any-latency']);
try {
  const bystander = await watchBystander(api);
  const send = async ({ method, path, headers, body }: Aim['requests'][number]): Promise<Answered> => {
    const from = performance.now();
    const status = await fetch(`${api.url}${path}`, {
      method,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body: body() }),
    }).then(
      async (answer) => {
        await answer.text();
        return answer.status;
      },
      // Refused in the midst of sending.
      () => 0,
    );
    return { status, ms: performance.now() - from };
  };
  const setUp = async (path: string, body: unknown): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${api.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  };
  await setUp('/releases', {
    name: 'r',
    version: '1',
    operating_system: 'x',
    roles_metadata: { web: { name: 'web' } },
  });
  await setUp('/clusters', { name: 'c', release_id: 1 });
  await setUp('/nodes', { name: 'node01', status: 'provisioned' });
  await setUp('/nodes', { name: 'node02', status: 'provisioned' });
  await setUp(
    '/clusters/1/assignment',
    [1, 2].map((id) => ({ id, roles: ['web'] })),
  );
  await setUp('/sites', { name: 'dc1' });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  table.baseline(await bystander.phase());
  for (const { name, requests } of AIMS) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const queue = [...requests];
    const answers: Answered[] = [];
    const sender = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) answers.push(await send(next));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sender));
    table.attack(name, answers, await bystander.phase());
    const ended = api.ended();
    if (ended !== undefined) throw new Error(`the API ${ended} in the group ${name}:\n${await api.log()}`);
  }
  await bystander.stop();
} finally {
  await api.stop();
}
process.exitCode = table.harmful === 0 ? 0 : 1;
