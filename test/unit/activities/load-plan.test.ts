import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoadPlan } from '../../../activities/contract.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { resolvedRevision } from '../../rig/resolved-revision.ts';
import { storeActivities } from '../../rig/store-activities.ts';

const ours = { workflowId: 'deploy_site:dc1', runId: 'r1' };
const document = (schema: string, name: string, data: string) =>
  `---\nschema: ${schema}/v1\nmetadata: {schema: metadata/Document/v1, name: ${name}}\ndata: ${data}\n`;
const node = (name: string, tag: string) =>
  document('drydock/BaremetalNode', name, `{metadata: {tags: [${tag}], rack: r1}}`);
const CONFIGURATION = document(
  'shipyard/DeploymentConfiguration',
  'deployment-configuration',
  '{physical_provisioner: {deployment_strategy: two, deploy_timeout: 77}, armada: {manifest: m}}',
);
const STRATEGY = document(
  'shipyard/DeploymentStrategy',
  'two',
  '{groups: [{name: a, critical: true, depends_on: [], selectors: [{node_tags: [x]}]}, {name: b, critical: false, depends_on: [a], selectors: [{node_tags: [y]}]}]}',
);
const SITE = [CONFIGURATION, STRATEGY, node('n1', 'x'), node('n2', 'y'), node('n3', 'y')].join('');

let store: Store;

beforeEach(async () => {
  store = await openStore('sqlite::memory:');
  await store.migrate();
  await store.sites.create({ name: 'dc1' });
  await store.claims.claim({ site: 'dc1' }, { ...ours, executionId: ours.runId });
});
afterEach(() => store.close());

function resolvedFiles(text: string) {
  return resolvedRevision([{ name: 'site.yaml', text }]);
}

function loadPlan(request: Partial<LoadPlan> = {}) {
  const { load_plan } = storeActivities(store, 2);
  const environment = new MockActivityEnvironment({ workflowExecution: ours }, { logger: new DefaultLogger('ERROR') });
  return environment.run(load_plan, { kind: 'deploy_site', site: 'dc1', ...request } as LoadPlan);
}

describe('the plan of a site run', () => {
  it('has the checks of its rollouts; to test a site all of them, or those that are named', async () => {
    const check = (name: string, host: string) =>
      document('sitewright/Check', name, `{tcp: {host: ${host}, port: 22}, within: 1m, failures: 3, every: 10s}`);
    const strategy = document(
      'shipyard/DeploymentStrategy',
      'two',
      '{groups: [{name: a, critical: false, depends_on: [], selectors: [], rollout: {first: 1, checks: [ssh]}}]}',
    );
    const checks = [check('ssh', '{yaql_exp: $.node.address}'), check('gateway', 'gw.example.org')];
    const text = [CONFIGURATION, strategy, node('n1', 'x'), ...checks].join('');
    await store.sites.addRevision('dc1', resolvedFiles(text));
    const ssh = { name: 'ssh', each: 'node', seconds: 140 };
    const gateway = { name: 'gateway', each: 'wave', seconds: 140 };
    expect(await loadPlan()).toMatchObject({
      ok: true,
      plan: { checks: [ssh], groups: [{ rollout: { checks: ['ssh'] } }] },
    });
    expect(await loadPlan({ kind: 'test_site' })).toMatchObject({ ok: true, plan: { checks: [ssh, gateway] } });
    expect(await loadPlan({ kind: 'test_site', checks: ['gateway'] })).toMatchObject({ plan: { checks: [gateway] } });
    expect(await loadPlan({ kind: 'test_site', checks: ['gatway'] })).toMatchObject({
      ...{ ok: false, failure: { kind: 'checks-not-found' } },
    });
  });

  it('comes from what the documents meant when they were stored, without reading them again', async () => {
    const { resolved, diagnostics } = resolvedRevision([{ name: 'site.yaml', text: SITE }]);
    const files = [{ name: 'site.yaml', text: '- no longer a document' }];
    await store.sites.addRevision('dc1', { files, resolved, diagnostics });
    expect(await loadPlan()).toMatchObject({
      ok: true,
      plan: {
        revision: 1,
        nodes: ['n1', 'n2', 'n3'],
        groups: [
          { name: 'a', critical: true, nodes: [0, 0] },
          { name: 'b', depends_on: ['a'], nodes: [1, 2] },
        ],
        pace: { deploy: { timeout: 77 }, max_parallel_nodes: 2 },
        done: [],
      },
    });
    expect(await loadPlan({ nodes: ['n3'] })).toMatchObject({
      plan: { nodes: ['n3'], groups: [{ name: 'target-group', nodes: [0, 0] }] },
    });
    expect(await loadPlan({ nodes: ['n3', 'n9'] })).toMatchObject({ failure: { nodes: ['n9'] } });
  });

  it('is refused for documents with errors, with the place of each', async () => {
    const files = [{ name: 'site.yaml', text: `${CONFIGURATION}${node('n1', 'x')}${node('n1', 'x')}` }];
    const wrong = resolvedRevision(files);
    expect(wrong.resolved).toBeNull();
    await store.sites.addRevision('dc1', wrong);
    const answer = await loadPlan();
    expect(answer).toMatchObject({ ok: false, failure: { kind: 'documents-invalid', revision: 1 } });
    expect(JSON.stringify(answer)).toMatch(/site\.yaml:11: a second drydock.BaremetalNode.v1 is named 'n1'/);
  });
});
