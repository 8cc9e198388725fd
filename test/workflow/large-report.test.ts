import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CloseRun, NodesRecord } from '../../activities/contract.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { startRun } from '../rig/site-workflow.ts';
import { storeActivities } from '../rig/store-activities.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
let store: Store;
beforeAll(async () => {
  rig = await temporalRig();
  store = await openStore('sqlite::memory:');
});
afterAll(async () => {
  await rig.close();
  await store.close();
});

const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `node-${String(from + at).padStart(3, '0')}`);
const failed = names(0, 300);
const deployed = names(300, 500);
const unreached = names(500, 600);
/** Longer than what fits a payload, for 300 nodes. */
const reason = `no lease on ${'eth0 '.repeat(80)}`;

it('the final report of 600 nodes, 300 of them failed, has everything that the run knew', async () => {
  const site = scriptedSite(
    {
      groups: [
        // Every node of `early` is one of `all` too.
        group('early', [...names(0, 10), ...deployed]),
        group('all', [...failed, ...deployed], {
          depends_on: ['early'],
          success_criteria: { minimum_successful_nodes: 400 },
        }),
        group('last', unreached, { depends_on: ['all'] }),
      ],
    },
    plainNodes(...names(0, 600)),
  );
  for (const node of failed)
    site.results.set(`deploy:${node}`, {
      ok: false,
      failure: { kind: 'maas-failed', message: `${node}: ${reason}`, hint: `check the cable of ${node}` },
    });
  await store.sites.create({ name: 'dc1' });
  await store.sites.addRevision('dc1', { files: [{ name: 'site.yaml', text: '' }], resolved: null });
  const real = storeActivities(store, 1);
  const { open_run, record_nodes, close_run } = real;
  Object.assign(site.overrides, { open_run, record_nodes, close_run });
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc1' }]);
  await run.ended();
  const { id } = (await store.runs.list({ site: 'dc1' })).items[0]!;
  const { baremetal, cut, outcome } = (await store.runs.getReport(id)) as unknown as RunReport;
  expect({ outcome, cut }).toEqual({ outcome: 'success_with_failures', cut: undefined });
  expect(baremetal!.nodes.map(({ name }) => name)).toEqual([...failed, ...deployed, ...unreached]);
  expect(baremetal!.nodes_by_state).toEqual({
    waiting: [],
    prepared: [],
    failed,
    success: deployed,
    not_reached: unreached,
  });
  expect(baremetal!.groups.map(({ nodes }) => nodes)).toEqual([
    [...names(0, 10), ...deployed],
    [...failed, ...deployed],
    unreached,
  ]);
  for (const node of baremetal!.nodes.slice(0, 300))
    expect(node).toMatchObject({
      state: 'failed',
      failed_in: 'deploy',
      failure_kind: 'maas-failed',
      reason: `${node.name}: ${reason}`,
      hint: `check the cable of ${node.name}`,
    });
});

it('a run whose store was restored from an older copy meanwhile records its nodes again, and reports them as they are', async () => {
  const site = scriptedSite({ groups: [group('all', names(0, 3))] }, plainNodes(...names(0, 3)));
  await store.sites.create({ name: 'dc2' });
  await store.sites.addRevision('dc2', { files: [{ name: 'site.yaml', text: '' }], resolved: null });
  const { open_run, record_nodes, close_run } = storeActivities(store, 1);
  const closes: (string | undefined)[] = [];
  Object.assign(site.overrides, {
    open_run,
    // What the copy does not have.
    record_nodes: async (record: NodesRecord) => (closes.length === 0 ? undefined : record_nodes(record)),
    close_run: async (request: CloseRun) => {
      const answer = await close_run(request);
      closes.push(answer);
      return answer;
    },
  });
  const run = await startRun(rig, site, 'deploy_site', [{ site: 'dc2' }]);
  await run.ended();
  expect(closes).toEqual(['records-differ', undefined]);
  const { id } = (await store.runs.list({ site: 'dc2' })).items[0]!;
  const { baremetal, outcome } = (await store.runs.getReport(id)) as unknown as RunReport;
  expect(outcome).toBe('success');
  expect(baremetal!.nodes_by_state.success).toEqual(names(0, 3));
});
