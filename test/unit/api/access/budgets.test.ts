import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { API } from '../../../../src/core/contracts/api.ts';
import { BODIES_UNDER_WAY, BUDGETS } from '../../../../src/core/contracts/budget.ts';
import { budgetOf, type RouteMap } from '../../../../src/core/contracts/route.ts';
import { tokenOperations } from '../../../../src/ops/tokens.ts';
import { type ApiRig, apiAlone } from '../../../api/api-rig.ts';

// Each request is begun by hand and left there, as an attacker does who means to keep others waiting.

let rig: ApiRig;
let port = 0;
let attacker = '';
let bystander = '';
const sockets = new Set<Socket>();

beforeAll(async () => {
  rig = await apiAlone({ tokens: true });
  const tokens = tokenOperations(rig.store);
  attacker = (await tokens.create({ name: 'mallory', role: 'viewer' }, 'test')).token;
  bystander = (await tokens.create({ name: 'bob', role: 'viewer' }, 'test')).token;
  await rig.api.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = rig.api.server.address() as { port: number });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  // The API has seen that they are gone.
  await expect.poll(async () => (await ask(bystander)).status).toBe(200);
});
afterAll(() => rig.close());

/** Begins to send documents to be checked: the head, and the first byte of the body. */
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
  it('is declared at every route, beside its access', () => {
    const routes = API as RouteMap;
    for (const [at, route] of Object.entries(routes)) {
      expect(BUDGETS, at).toHaveProperty(budgetOf(route));
      // Whoever may only read has no long work without a kind of its own.
      if (/\.svg$/.test(at)) expect([at, budgetOf(route)]).toEqual([at, 'drawing']);
      if (/check\/?$|revisions$/.test(at) && at.startsWith('POST'))
        expect([at, budgetOf(route)]).toEqual([at, 'reading']);
    }
  });

  // threat: viewer-5 found-8 owasp-4
  it('of bytes: bodies of one caller that are under way never fill the memory, and others are served', async () => {
    const size = 30 * 1024 * 1024;
    expect(await Promise.race([begin(attacker, size).answered, begin(attacker, size).answered])).toBe(503);
    const refused = await Promise.all(Array.from({ length: 40 }, () => begin(attacker, size).answered));
    expect(new Set(refused)).toEqual(new Set([503]));
    expect(BODIES_UNDER_WAY.ofCaller).toBeLessThan(2 * size);
    expect((await ask(attacker)).status).toBe(200);
    expect((await check(bystander)).status).toBe(200);
  });

  // threat: viewer-5 found-8
  it('of bytes: a body that does not say how long it is counts as the longest', async () => {
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

  // threat: viewer-5 owasp-4
  it('of requests at once: one caller keeps no other waiting, and may go on when one is answered', async () => {
    const { atOnce } = BUDGETS.reading;
    // One too many: whichever comes last is refused, and then all others are under way.
    const answers = Array.from({ length: atOnce + 1 }, () => begin(attacker, 100).answered);
    expect(await Promise.race(answers)).toBe(429);
    expect(await check(attacker)).toMatchObject({
      headers: { 'retry-after': '1' },
      body: { code: 'too-many-requests' },
    });
    // Another kind of work, and another caller.
    expect((await ask(attacker)).status).toBe(200);
    expect((await check(bystander)).status).toBe(200);
    // One of two at least is under way.
    for (const socket of [...sockets].slice(0, 2)) socket.destroy();
    await expect.poll(async () => (await check(attacker)).status).toBe(200);
  });
});
