import { MachineStatus as S } from '@sitewright/maas/status';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { SimulatedMaas } from './simulated-maas.ts';

let maas: SimulatedMaas;
let id: string;
beforeAll(async () => {
  maas = await SimulatedMaas.start();
});
beforeEach(async () => {
  await maas.control('POST', 'reset');
  id = await maas.machine({ status: S.Allocated });
});
afterAll(() => maas.close());

const deploy = () => maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' });
const inject = (kind: string, more: object = {}) =>
  maas.control('POST', 'faults', [{ match: 'POST .*op=deploy', kind, times: 1, ...more }]);

it.each([
  ['409html', 409, '5'],
  ['503', 503, null],
  ['503retry', 503, '10'],
  ['500', 500, null],
  ['502', 502, null],
  ['504', 504, null],
] as const)('%s: answered so once, and nothing done', async (kind, status, retryAfter) => {
  await inject(kind);
  const reply = await deploy();
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([status, retryAfter]);
  expect(reply.headers.get('content-type')).toContain(['409html', '502', '504'].includes(kind) ? 'html' : 'text/plain');
  expect(await maas.moves()).toEqual([]);
  expect((await deploy()).status).toBe(200);
});

it('drop_before: no answer, nothing done', async () => {
  await inject('drop_before');
  await expect(deploy()).rejects.toThrow();
  expect(await maas.moves()).toEqual([]);
});

it('drop_after: no answer, done', async () => {
  await inject('drop_after');
  await expect(deploy()).rejects.toThrow();
  expect(await maas.moves()).toEqual([[10, 9, 'deploy']]);
  expect((await deploy()).status).toBe(409);
});

it('504_after: done behind the proxy', async () => {
  await inject('504_after');
  expect((await deploy()).status).toBe(504);
  expect(await maas.status(id)).toBe(S.Deploying);
});

it('double: the second of two answers, one deployment', async () => {
  await inject('double');
  expect((await deploy()).status).toBe(409);
  expect(await maas.moves()).toEqual([[10, 9, 'deploy']]);
});

it('slow: done after its time, also when the client has disconnected', async () => {
  await inject('slow', { ms: 60_000 });
  const reply = deploy();
  await expect.poll(() => maas.clock.waiting).toBe(1);
  expect(await maas.moves()).toEqual([]);
  maas.clock.advance(60_000);
  expect((await reply).status).toBe(200);
});

it('faults are used up in order and only by matching requests', async () => {
  await maas.control('POST', 'faults', [
    { match: 'op=deploy', kind: '503', times: 2 },
    { match: 'op=deploy', kind: '502' },
  ]);
  expect((await maas.api('GET', `machines/${id}/`)).status).toBe(200);
  expect([await deploy(), await deploy(), await deploy(), await deploy()].map(({ status }) => status)).toEqual([
    503, 503, 502, 200,
  ]);
  const { json } = await maas.control('GET', 'requests');
  expect(json.map(({ fault }: { fault: string | null }) => fault)).toEqual([null, '503', '503', '502', null]);
});

it('a wrong fault is refused with every reason', async () => {
  const reply = await maas.control('POST', 'faults', [{ match: '(', kind: 'melt', times: 1.5, ms: -1 }, {}]);
  expect(reply.status).toBe(400);
  expect(reply.json.problems).toHaveLength(6);
});
