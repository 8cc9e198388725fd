import { connect, type Socket } from 'node:net';
import { setImmediate as later } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Paces } from '../../../../src/api/access/refusals.ts';
import { Turns } from '../../../../src/api/access/turns.ts';
import { API } from '../../../../src/core/contracts/api.ts';
import { BODIES_UNDER_WAY, BUDGETS, REFUSALS } from '../../../../src/core/contracts/budget.ts';
import { budgetOf, type RouteMap } from '../../../../src/core/contracts/route.ts';
import { TokenOperations } from '../../../../src/ops/tokens.ts';
import { type ApiRig, apiAlone } from '../../../api/api-rig.ts';

// Each request is begun by hand and left open, as by an attacker who means to keep others waiting.

let rig: ApiRig;
let port = 0;
let attacker = '';
let bystander = '';
const sockets = new Set<Socket>();

beforeAll(async () => {
  rig = await apiAlone({ tokens: true });
  const tokens = new TokenOperations(rig.store);
  attacker = (await tokens.create({ name: 'mallory', role: 'viewer' }, 'test')).token;
  bystander = (await tokens.create({ name: 'bob', role: 'viewer' }, 'test')).token;
  await rig.api.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = rig.api.server.address() as { port: number });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  // The API has seen that they have disconnected.
  await expect.poll(async () => (await ask(bystander)).status).toBe(200);
});
afterAll(() => rig.close());

/** Begins to send documents for a check: the head, and the first byte of the body. */
function begin(token: string, size: number): { readonly answered: Promise<number> } {
  const socket = connect(port, '127.0.0.1');
  sockets.add(socket);
  const answered = new Promise<number>((resolve, reject) => {
    socket.once('data', (piece) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(piece))?.[1])));
    socket.once('error', reject);
  });
  answered.catch(() => undefined);
  const head = `POST /api/v1/documents/check HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${size}\r\n\r\n{`);
  return { answered };
}

const ask = (token: string) => rig.ask('GET', '/api/v1/me', undefined, { authorization: `Bearer ${token}` });
const check = (token: string) =>
  rig.ask(
    'POST',
    '/api/v1/documents/check',
    { files: [{ name: 'a.yaml', text: 'a: 1\n' }] },
    { authorization: `Bearer ${token}` },
  );

describe('a budget', () => {
  it('is declared at every route, with its access', () => {
    const routes = API as RouteMap;
    for (const [at, route] of Object.entries(routes)) {
      expect(BUDGETS, at).toHaveProperty(budgetOf(route));
      // Viewers have no long work without a kind of its own.
      if (/\.svg$|\/graph\/map$/.test(at)) expect([at, budgetOf(route)]).toEqual([at, 'drawing']);
      if (/check\/?$|revisions$/.test(at) && at.startsWith('POST'))
        expect([at, budgetOf(route)]).toEqual([at, 'reading']);
    }
  });

  it('of bytes keeps the bodies of one caller from filling the memory, and others are served', async () => {
    const size = 30 * 1024 * 1024;
    expect(await Promise.race([begin(attacker, size).answered, begin(attacker, size).answered])).toBe(503);
    const refused = await Promise.all(Array.from({ length: 40 }, () => begin(attacker, size).answered));
    expect(new Set(refused)).toEqual(new Set([503]));
    expect(BODIES_UNDER_WAY.ofCaller).toBeLessThan(2 * size);
    expect((await ask(attacker)).status).toBe(200);
    expect((await check(bystander)).status).toBe(200);
  });

  it('of bytes counts a body of unknown length as the longest', async () => {
    const chunked = () => {
      const socket = connect(port, '127.0.0.1');
      sockets.add(socket);
      const head = `POST /api/v1/documents/check HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${attacker}\r\n`;
      socket.write(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`);
      return new Promise<number>((resolve) => {
        socket.once('data', (piece) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(piece))?.[1])));
      });
    };
    expect(await Promise.race([chunked(), chunked()])).toBe(503);
  });

  it('of concurrent requests keeps one caller from delaying others, and frees a slot with each answer', async () => {
    const { atOnce } = BUDGETS.reading;
    // One too many: the last one is refused, and then all others are in progress.
    const answers = Array.from({ length: atOnce + 1 }, () => begin(attacker, 100).answered);
    expect(await Promise.race(answers)).toBe(429);
    expect(await check(attacker)).toMatchObject({
      headers: { 'retry-after': '1' },
      body: { code: 'too-many-requests' },
    });
    // Another kind of work, and another caller.
    expect((await ask(attacker)).status).toBe(200);
    expect((await check(bystander)).status).toBe(200);
    // At least one of two is in progress.
    for (const socket of [...sockets].slice(0, 2)) socket.destroy();
    await expect.poll(async () => (await check(attacker)).status).toBe(200);
  });
});

describe('turns', () => {
  it('go from caller to caller, however many requests of one wait', async () => {
    const turns = new Turns();
    const served: string[] = [];
    const ends: (() => void)[] = [];
    const ask = (caller: string, what: string) =>
      turns.take(caller, (end) => {
        served.push(what);
        ends.push(end);
      });
    for (let at = 0; at < 100; at++) ask('mallory', `m${at}`);
    ask('bob', 'b0');
    ask('trudy', 't0');
    ask('bob', 'b1');
    expect(served).toEqual(['m0']);
    for (let at = 0; at < 5; at++) {
      ends[at]!();
      // Ending it again gives nobody else a turn.
      ends[at]!();
      await later();
      await later();
    }
    expect(served).toEqual(['m0', 'm1', 'b0', 't0', 'm2', 'b1']);
  });

  it('end by themselves where a handler waits, and when its caller disconnects', async () => {
    const slow = await apiAlone({ tokens: true });
    try {
      const { token } = await new TokenOperations(slow.store).create({ name: 'mallory', role: 'viewer' }, 'test');
      await slow.api.listen({ host: '127.0.0.1', port: 0 });
      const url = `http://127.0.0.1:${(slow.api.server.address() as { port: number }).port}`;
      // Nothing answers there: each of these waits for Temporal.
      const waiting = Array.from({ length: 20 }, () =>
        fetch(`${url}/api/v1/workers`, { headers: { authorization: `Bearer ${token}` } }).catch(() => undefined),
      );
      const { headers, body } = await slow.ask('GET', '/api/v1/me', undefined, { authorization: `Bearer ${token}` });
      expect(body, JSON.stringify(headers)).toMatchObject({ name: 'mallory' });
      await Promise.all(waiting);
    } finally {
      await slow.close();
    }
  });
});

describe('a caller that is refused', () => {
  it('is answered immediately a number of times, then after a pause, and only a limited number wait', () => {
    const paces = new Paces();
    for (let at = 0; at <= REFUSALS.atOnce; at++) expect(paces.wait('at 192.0.2.1', 0)).toBe(0);
    const waits = Array.from({ length: REFUSALS.waiting + 5 }, () => paces.wait('at 192.0.2.1', 0));
    const apart = 1_000 / REFUSALS.perSecond;
    expect(waits.slice(0, 3)).toEqual([apart, 2 * apart, 3 * apart]);
    expect(waits.filter((one) => one === undefined)).toHaveLength(5);
    expect(paces.wait('at 192.0.2.2', 0)).toBe(0);
    // Passed time is forgiven.
    expect(paces.wait('at 192.0.2.1', 60_000)).toBe(0);
  });

  it('repeatedly waits or is disconnected, and nobody else is', async () => {
    const url = `http://127.0.0.1:${port}/api/v1/sites`;
    // A busy machine takes seconds for them, in which as many are forgiven.
    const count = REFUSALS.atOnce + REFUSALS.waiting + 400;
    let cut = 0;
    const gone = new AbortController();
    const guesses = Array.from({ length: count }, (_, at) =>
      fetch(url, { headers: { authorization: `Bearer swt_guess${at}` }, signal: gone.signal }).then(
        async (answer) => void (await answer.text()),
        () => void (cut += gone.signal.aborted ? 0 : 1),
      ),
    );
    await expect.poll(() => cut).toBeGreaterThan(20);
    expect((await fetch(url, { headers: { authorization: `Bearer ${bystander}` } })).status).toBe(200);
    gone.abort();
    await Promise.all(guesses);
  });
});
