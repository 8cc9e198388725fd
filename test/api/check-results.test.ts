import { afterEach, beforeEach, expect, it } from 'vitest';
import { cli } from '../unit/cli/recording-terminal.ts';
import { type ApiRig, apiAlone } from './api-rig.ts';

const api = '/api/v1/sites/dc1/checks';
const NODES = ['n1', 'n2', 'n10'];

let rig: ApiRig;
beforeEach(async () => {
  rig = await apiAlone();
  await rig.store.sites.create({ name: 'dc1' });
});
afterEach(() => rig.close());

async function keep(check: string, verdicts: Readonly<Record<string, 'well' | 'failed' | 'unknown'>>, runId = 'r1') {
  const results = Object.entries(verdicts).map(([node, verdict], index) => ({
    ...{ node, verdict, runId, text: `${verdict} of ${node}`, output: node === 'n1' ? 'disk full' : null },
    ...{ ms: 1_500 + index, at: `2026-01-0${index + 1}T00:00:00.000Z` },
  }));
  await rig.store.checkResults.add('dc1', check, results, { checks: ['disk', 'gateway'], nodes: NODES });
}

it('shows the newest results of each check together, those that are not well by their nodes', async () => {
  await keep('gateway', { '': 'well' });
  await keep('disk', { n1: 'well', n2: 'well', n10: 'well' });
  await keep('disk', { n1: 'failed', n10: 'unknown' }, 'r2');
  const { status, body } = await rig.ask('GET', api);
  expect(status).toBe(200);
  const [disk, gateway] = body.items;
  expect(disk).toMatchObject({
    ...{ check: 'disk', verdict: 'failed', counts: { well: 1, failed: 1, unknown: 1 } },
    ...{ seconds: 1.501, at: '2026-01-02T00:00:00.000Z' },
    unwell: [
      { node: 'n1', verdict: 'failed', text: 'failed of n1', output: 'disk full', run: 'r2' },
      { node: 'n10', verdict: 'unknown', output: null },
    ],
  });
  expect(gateway).toMatchObject({ check: 'gateway', verdict: 'well', counts: { well: 1 }, unwell: [] });
  expect(await rig.ask('GET', '/api/v1/sites/nowhere/checks')).toMatchObject({ status: 404 });
});

it('lists what came of checks, newest first, of one check, node or run', async () => {
  await keep('gateway', { '': 'well' });
  await keep('disk', { n1: 'well', n2: 'failed' }, 'r2');
  const shown = async (query: string) => {
    const { body } = await rig.ask('GET', `${api}/results${query}`);
    return body.items.map((one: { check: string; node: string | null }) => [one.check, one.node]);
  };
  expect(await shown('')).toEqual([
    ['disk', 'n2'],
    ['disk', 'n1'],
    ['gateway', null],
  ]);
  expect(await shown('?check=disk&node=n1')).toEqual([['disk', 'n1']]);
  expect(await shown('?run=r1&limit=5')).toEqual([['gateway', null]]);
  expect(await rig.ask('GET', `${api}/results?limit=0`)).toMatchObject({ status: 400 });
  expect(await rig.ask('GET', '/api/v1/sites/nowhere/checks/results')).toMatchObject({ status: 404 });
});

it('is shown by the command line', async () => {
  await keep('disk', { n1: 'failed', n2: 'well' });
  const address = await rig.api.listen({ port: 0, host: '127.0.0.1' });
  const printed = async (...args: readonly string[]) => {
    const { out } = await cli([...args, '-f', 'json'], { env: { SITEWRIGHT_API: address } });
    return JSON.parse(out);
  };
  expect(await printed('check', 'list', 'dc1')).toMatchObject([
    { check: 'disk', verdict: 'failed', well: 1, nodes: ['n1'] },
  ]);
  expect(await printed('check', 'results', 'dc1', '--node', 'n1')).toMatchObject([
    { verdict: 'failed', output: 'disk full' },
  ]);
});
