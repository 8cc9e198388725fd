import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OpenRun, TakePermits } from '../../../activities/contract.ts';
import { provePermit } from '../../../activities/run/permits.ts';
import { SiteCache } from '../../../activities/site/cache.ts';
import type { PermitAnswer } from '../../../src/core/permits/answer.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { resolvedRevision } from '../../rig/resolved-revision.ts';
import { storeActivities } from '../../rig/store-activities.ts';

const ours = { workflowId: 'execute_graph:1:1', runId: 'r1' };
const document = (schema: string, name: string, data: string) =>
  `---\nschema: ${schema}/v1\nmetadata: {name: ${name}}\ndata: ${data}\n`;
const NODES = ['n1', 'n2', 'n3'].map((name) => document('drydock/BaremetalNode', name, '{}')).join('');
const CONFIGURATION = document('shipyard/DeploymentConfiguration', 'c', '{armada: {manifest: m}}');
const LIMITS = document('sitewright/Limits', 'limits', '{out_of_service: [{per: site, at_most: 1}]}');

let store: Store;
let cluster: number;
let ids: string[];

beforeEach(async () => {
  store = await openStore('sqlite::memory:');
  await store.sites.create({ name: 'dc1' });
  const { id: releaseId } = await store.releases.create({ name: 'r', version: '1', operatingSystem: 'x' });
  cluster = (await store.clusters.create({ name: 'c', releaseId })).id;
  const made = { site: 'dc1', status: 'ready', online: true };
  ids = [];
  for (const name of ['n1', 'n2', 'n3']) {
    const { id } = await store.nodes.create({ name, hostname: `${name}.example`, ...made });
    await store.nodes.assign(cluster, [{ id, roles: ['compute'] }]);
    ids.push(String(id));
  }
  await store.claims.claim({ cluster }, { ...ours, executionId: ours.runId });
});
afterEach(() => store.close());

async function commit(text: string): Promise<void> {
  await store.sites.addRevision('dc1', resolvedRevision([{ name: 'site.yaml', text }]));
}

function ask(name: 'take_permits' | 'await_permits', more: Partial<TakePermits> = {}): Promise<PermitAnswer> {
  const environment = new MockActivityEnvironment({ workflowExecution: ours }, { logger: new DefaultLogger('ERROR') });
  const request: TakePermits = { subject: { cluster }, run_id: ours.runId, work: 'tasks', wants: ids, ...more };
  return environment.run(storeActivities(store, 2)[name], request);
}

it('the nodes of a cluster are the machines of their site, and one of no node is free', async () => {
  await commit(LIMITS + NODES + CONFIGURATION);
  expect(new Set((await ask('take_permits', { wants: ['master', ...ids] })).granted)).toEqual(
    new Set([ids[0], 'master']),
  );
  expect(await store.permits.holds('dc1', ours.runId, 'n1')).toBe(true);
  expect((await ask('take_permits', { wants: [ids[1]!] })).granted).toEqual([]);
  expect((await ask('await_permits', { wants: [ids[1]!], done: [ids[0]!] })).granted).toEqual([ids[1]]);
});

it('the limits of the newest revision without errors count, and none after they were taken out', async () => {
  await commit(LIMITS + NODES + CONFIGURATION);
  await commit(NODES);
  expect((await ask('take_permits')).granted).toEqual([ids[0]]);
  await commit(NODES + CONFIGURATION);
  expect((await ask('take_permits')).granted).toEqual(ids);
});

it('a permit that a restored store has lost is taken again, or not, as the limits say now', async () => {
  await commit(LIMITS + NODES + CONFIGURATION);
  const prove = (machine: string) => {
    const cache = new SiteCache(store);
    const request = { site: 'dc1', run_id: ours.runId, work: 'deploy' as const, machine };
    return provePermit({ store } as Parameters<typeof provePermit>[0], cache, request);
  };
  await prove('n1');
  expect(await store.permits.holds('dc1', ours.runId, 'n1')).toBe(true);
  await expect(prove('n2')).rejects.toMatchObject({ type: 'RunHeld' });
  await prove('n1');
});

it('a run that no API has started goes beyond no limit', async () => {
  await commit(LIMITS + NODES + CONFIGURATION);
  const { open_run } = storeActivities(store, 2);
  const own = { workflowId: 'deploy_site:dc1', runId: 'r2' };
  const environment = new MockActivityEnvironment({ workflowExecution: own }, { logger: new DefaultLogger('ERROR') });
  const request: OpenRun = {
    ...{ workflow_id: own.workflowId, run_id: own.runId, kind: 'deploy_site', site: 'dc1', answered: true },
    ...{ started_at: new Date().toISOString(), started_by: 'mallory', reason: undefined, start: {} },
    parameters: { override_limits: 'I can' },
  };
  expect(await environment.run(open_run, request)).toMatchObject({ ok: false, failure: { kind: 'override-refused' } });
});
