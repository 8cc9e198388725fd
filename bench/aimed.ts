// Sends requests made to hurt to an API of its own, and watches a bystander's latency, the memory of the process and
// answers of 500 and above: `npx tsx bench/aimed.ts [name of a group …]`. Copy the table to bench/aimed-results.md.
import { loadavg } from 'node:os';
import { AIMS, type Aim } from './aimed-requests.js';
import { startApiProcess } from './api-process.js';
import { type Seen, watchBystander } from './bystander.js';

/** What the issue promises: a bystander's p99 in milliseconds, and memory in megabytes. */
const MOST_P99_MS = 250;
const MOST_MEGABYTES = 600;
/** Requests of a group under way at once. */
const AT_ONCE = 4;

const wanted = process.argv.slice(2);
const api = await startApiProcess({ SITEWRIGHT_LOG_LEVEL: 'warn', SITEWRIGHT_PACKAGES_BASE_RELEASE: 'off' });
const rows: string[] = [];
let harm = 0;
try {
  const bystander = await watchBystander(api);
  const send = async ({ method, path, headers, body }: Aim['requests'][number]): Promise<[number, number]> => {
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
    return [status, performance.now() - from];
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
  report('(nothing)', [], await bystander.phase());
  for (const { name, requests } of AIMS) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const queue = [...requests];
    const answers: [number, number][] = [];
    const sender = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) answers.push(await send(next));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sender));
    report(name, answers, await bystander.phase());
    const ended = api.ended();
    if (ended !== undefined) throw new Error(`the API ${ended} in the group ${name}:\n${await api.log()}`);
  }
  await bystander.stop();
} finally {
  await api.stop();
}

function report(name: string, answers: readonly [number, number][], seen: Seen): void {
  const counts = new Map<number, number>();
  for (const [status] of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  const bad = answers.filter(([status]) => status >= 500 && status !== 503).length;
  const slowest = Math.round(Math.max(0, ...answers.map(([, ms]) => ms)));
  const harmful = bad > 0 || seen.failed > 0 || seen.p99 > MOST_P99_MS || seen.megabytes > MOST_MEGABYTES;
  if (harmful) harm += 1;
  const statuses = [...counts].sort(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status || 'cut off'}`);
  const cells = [
    name,
    answers.length,
    statuses.join(', '),
    bad,
    slowest,
    seen.requests,
    seen.p50,
    seen.p99,
    seen.worst,
  ];
  const row = `| ${[...cells, seen.failed, seen.megabytes, Math.round(loadavg()[0]!)].join(' | ')} |`;
  rows.push(row);
  console.error(row);
}

const head = ['group', 'requests', 'answers', '5xx', 'slowest, ms', 'bystander', 'p50', 'p99', 'worst, ms', 'failed'];
console.log(`| ${[...head, 'memory, MB', 'load'].join(' | ')} |`);
console.log(`|${' --- |'.repeat(head.length + 2)}`);
for (const row of rows) console.log(row);
process.exitCode = harm === 0 ? 0 : 1;
