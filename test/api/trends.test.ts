import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NodeReport } from '../../src/core/contracts/site-run-report.ts';
import { type ApiRig, apiAlone } from './api-rig.ts';

let rig: ApiRig;

beforeAll(async () => {
  rig = await apiAlone();
});
afterAll(() => rig.close());

type Made = Pick<NodeReport, 'state' | 'attempts'> & { readonly seconds?: number };

/** A run of a site on the given day of May that took so long for each node. */
async function ran(
  id: string,
  day: number,
  nodes: Readonly<Record<string, Made>>,
  more: { readonly kind?: string; readonly outcome?: string | null } = {},
): Promise<void> {
  const { kind = 'deploy_site', outcome = 'success' } = more;
  const startedAt = `2026-05-0${day}T10:00:00.000Z`;
  const after = (seconds: number) => new Date(Date.parse(startedAt) + seconds * 1000).toISOString();
  await rig.store.runs.put({
    ...{ id, workflowId: `${kind}:${id}`, kind, site: 'dc1', startedAt, sequence: 1, phase: 'finished' },
    ...(outcome === null ? {} : { outcome, endedAt: after(3600) }),
  });
  await rig.store.runs.putNodes(
    id,
    Object.entries(nodes).map(([node, { seconds, ...made }], position) => ({
      ...{ node, sequence: 1, position },
      report: {
        ...{ name: node, group: 'all', ...made },
        ...(seconds === undefined ? {} : { started_at: startedAt, ended_at: after(seconds) }),
      },
    })),
  );
}

it('a site has its rate of first attempts, and each node its last runs, those that needed more first', async () => {
  await rig.ask('POST', '/api/v1/sites', { name: 'dc1' });
  const first = { state: 'success', attempts: 1, seconds: 60 } as const;
  await ran('one', 1, { r1: first, r2: { state: 'success', attempts: 3, seconds: 300 }, r3: first });
  await ran('two', 2, { r1: { ...first, seconds: 90 }, r2: { state: 'failed', attempts: 2, seconds: 400 } });
  // What was left as it was, or not reached, was not tried.
  await ran('three', 3, {
    ...{ r1: { state: 'success', attempts: 0 }, r2: first },
    ...{ r3: { state: 'not_reached', attempts: 0 } },
  });
  // A test deploys nothing, and an open run has not ended.
  await ran('test', 4, { r1: { state: 'failed', attempts: 1, seconds: 1 } }, { kind: 'test_site' });
  await ran('open', 5, { r1: { state: 'failed', attempts: 1, seconds: 1 } }, { outcome: null });

  const { status, body } = await rig.ask('GET', '/api/v1/sites/dc1/node-trends');
  expect(status).toBe(200);
  expect(body).toMatchObject({ runs: 3, ended: 6, first_attempts: 4 });
  expect(body.nodes).toMatchObject([
    { node: 'r2', ended: 3, first_attempts: 1, seconds: 300 },
    { node: 'r1', ended: 2, first_attempts: 2, seconds: 90 },
    { node: 'r3', ended: 1, first_attempts: 1, seconds: 60 },
  ]);
  expect(body.nodes[0].past).toEqual([
    { run: 'three', at: '2026-05-03T10:00:00.000Z', seconds: 60, outcome: 'success' },
    { run: 'two', at: '2026-05-02T10:00:00.000Z', seconds: 400, outcome: 'failed' },
    { run: 'one', at: '2026-05-01T10:00:00.000Z', seconds: 300, outcome: 'success' },
  ]);
});

it('a site that there is not has no trends', async () => {
  const { status, body } = await rig.ask('GET', '/api/v1/sites/nowhere/node-trends');
  expect([status, body.code]).toEqual([404, 'not-found']);
});
