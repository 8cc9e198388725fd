// Uses up all budgets of an API together, as two viewers and an anonymous caller can, while a third viewer makes small requests:
// `node bench/budgets.ts [--seconds N] [--any-latency]`. Exit code 1 when the bystander's p99 is above 250 ms, or anything did
// harm. The table is in bench/fuzz-results.md.
import './bounded.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BODIES_UNDER_WAY, BUDGETS } from '../src/core/contracts/budget.ts';
import { TokenOperations } from '../src/ops/tokens.ts';
import { openStore } from '../src/store/index.ts';
import { startApiProcess } from './api-process.ts';
import { watchBystander } from './bystander.ts';
import { type Answered, HarmTable } from './harm-table.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, 'any-latency': { type: 'boolean', default: false } },
});

const folder = await mkdtemp(join(tmpdir(), 'sitewright-budgets-'));
const SITEWRIGHT_STORE_URL = `sqlite:${join(folder, 'store.db')}`;
const store = await openStore(SITEWRIGHT_STORE_URL);
const tokens = new TokenOperations(store);
const tokenOf = async (name: string, role: 'viewer' | 'admin') => (await tokens.create({ name, role }, 'bench')).token;
const admin = await tokenOf('root', 'admin');
const bystanderToken = await tokenOf('bob', 'viewer');
const attackers = [await tokenOf('mallory', 'viewer'), await tokenOf('trudy', 'viewer')];
await store.close();

const api = await startApiProcess({
  SITEWRIGHT_STORE_URL,
  SITEWRIGHT_ACCESS_TOKENS: 'on',
  SITEWRIGHT_LOG_LEVEL: 'warn',
  SITEWRIGHT_PACKAGES_BASE_RELEASE: 'off',
  SITEWRIGHT_API_RATE_LIMIT_PER_MINUTE: '0',
});
const { hostname, port } = new URL(api.url);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function send(
  method: string,
  path: string,
  token?: string,
  body?: unknown,
): Promise<Answered & { text: string }> {
  const from = performance.now();
  const answer = await fetch(`${api.url}/api/v1${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : bearer(token)),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }).then(
    async (one) => ({ status: one.status, text: await one.text() }),
    () => ({ status: 0, text: '' }),
  );
  return { ...answer, ms: performance.now() - from };
}

async function setUp(path: string, body: unknown): Promise<number> {
  const { status, text } = await send('POST', path, admin, body);
  if (status >= 300) throw new Error(`POST ${path}: ${status} ${text}`);
  return (JSON.parse(text) as { id: number }).id;
}

const tasks = (count: number, needs: (at: number) => readonly string[]) =>
  Array.from({ length: count }, (_, at) => ({
    id: `t${at}`,
    type: 'shell',
    version: '2.1.0',
    tags: ['web'],
    requires: needs(at),
    parameters: { cmd: 'true', timeout: 1 },
  }));

const sockets: Socket[] = [];
/** A request that is begun and left there, with bytes of its body or none. */
function begin(head: string, token: string, more = ''): void {
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined).on('data', () => undefined);
  socket.write(`${head} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n${more}`);
}

let isOver = false;
const answers: Answered[] = [];
const until = performance.now() + Number(values.seconds) * 1_000;
async function again(count: number, work: () => Promise<Answered>): Promise<void> {
  const sender = async (): Promise<void> => {
    while (!isOver && performance.now() < until) {
      const { status, ms } = await work();
      answers.push({ status, ms });
      // Who is refused comes again, as soon as a client that means harm would.
      if (status === 429) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(Array.from({ length: count }, sender));
}

const hostileText = `k:\n  j: [\n${`a,${' '.repeat(20)}\n`.repeat(4_000)}]\n`;
const siteOf = (size: number) => ({
  files: [
    {
      name: 'a.yaml',
      text: Array.from(
        { length: size },
        (_, at) => `---\nschema: x/Node/v1\nmetadata: {name: n${at}}\ndata: {a: [1, 2, {b: c}]}\n`,
      ).join(''),
    },
  ],
});

const table = new HarmTable(values['any-latency']);
try {
  await setUp('/sites', { name: 'dc1' });
  await setUp('/releases', {
    name: 'r',
    version: '1',
    operating_system: 'x',
    roles_metadata: { web: { name: 'web' } },
  });
  await setUp('/clusters', { name: 'c', release_id: 1 });
  const small = await setUp('/clusters/1/deployment_graphs/small', {
    name: 's',
    tasks: tasks(100, (at) => (at < 50 ? [] : Array.from({ length: 40 }, (_, one) => `t${one}`))),
  });
  const large = await setUp('/clusters/1/deployment_graphs/large', {
    name: 'l',
    tasks: tasks(2_000, (at) => (at < 20 ? [] : Array.from({ length: 5 }, (_, one) => `t${(at * 7 + one * 13) % 20}`))),
  });
  const bystander = await watchBystander({ url: api.url, pid: api.pid, headers: bearer(bystanderToken) });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  table.baseline(await bystander.phase());
  // Attackers have machines of their own: what they take of this one is not the API's to give.
  if (process.platform === 'linux') setPriority(0, 10);
  const circle = { name: 'g', tasks: tasks(8_000, (at) => [`t${(at + 1) % 8_000}`]) };
  const circleText = JSON.stringify(circle);
  const [hostile, site] = [
    JSON.stringify({ files: [{ name: 'a.yaml', text: hostileText }] }),
    JSON.stringify(siteOf(4_000)),
  ];
  const work: Promise<void>[] = [];
  for (const token of attackers) {
    // watching
    for (let at = 0; at < BUDGETS.watching.atOnce; at++) begin('GET /api/v1/events', token, '\r\n');
    // bytes: bodies that never arrive, which count by their declared length
    const body = Math.floor(BODIES_UNDER_WAY.ofCaller / 4);
    begin('POST /api/v1/documents/check', token, `Content-Type: application/json\r\nContent-Length: ${body}\r\n\r\n{`);
    // light
    work.push(again(BUDGETS.light.atOnce / 2, () => send('GET', '/clusters/', token)));
    work.push(again(BUDGETS.light.atOnce / 2, () => send('GET', `/graphs/${small}`, token)));
    // reading: small and large, each with a place of its own
    work.push(again(1, () => send('POST', '/graphs/check/', token, circleText)));
    work.push(again(1, () => send('POST', '/documents/check', token, site)));
    work.push(again(BUDGETS.reading.atOnce, () => send('POST', '/documents/check', token, hostile)));
    // drawing
    work.push(
      again(BUDGETS.drawing.atOnce, () =>
        send('GET', `/graphs/${Math.random() < 0.5 ? small : large}/graph.svg`, token),
      ),
    );
    // plans, of which all share a thread
    work.push(again(BUDGETS.planning.atOnce, () => send('GET', '/clusters/1/plan/?graph_type=large', token)));
    // transfer: downloads and uploads that a viewer may not make
    work.push(again(BUDGETS.transfer.atOnce, () => send('POST', '/packages', token, 'x'.repeat(1_000))));
  }
  // Without a token: long addresses, wrong tokens, and what is open.
  work.push(again(8, () => send('GET', `/${'a'.repeat(8_000)}`)));
  work.push(again(8, () => send('GET', '/sites', `swt_guess${Math.random()}`)));
  work.push(
    again(8, async () => {
      const from = performance.now();
      const answer = await fetch(`${api.url}/health/live`).then(
        async (one) => {
          await one.text();
          return one.status;
        },
        () => 0,
      );
      return { status: answer, ms: performance.now() - from };
    }),
  );
  await Promise.all(work);
  table.attack('all budgets at once', answers, await bystander.phase());
  const ended = api.ended();
  if (ended !== undefined) throw new Error(`the API ${ended}:\n${await api.log()}`);
  await bystander.stop();
} finally {
  isOver = true;
  for (const socket of sockets) socket.destroy();
  await api.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = table.harmful === 0 ? 0 : 1;
