/**
 * Measures `load_plan`, the activity that makes a site run's plan, with a new cache each time, as the first run after a restart
 * has it. For comparison, resolves the same revision's documents again, as `load_plan` did before they were resolved when stored.
 * The order changes from round to round. Usage: node bench/load-plan.ts [nodes] [rounds]
 */

import './bounded.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { LoadPlan, LoadPlanAnswer } from '../activities/contract.ts';
import { loadSite } from '../src/documents/index.ts';
import { openStore } from '../src/store/index.ts';
import { resolvedRevision } from '../test/rig/resolved-revision.ts';
import { storeActivities } from '../test/rig/store-activities.ts';
import { siteDocuments } from './site-documents.ts';

const [nodes = 600, rounds = 10] = process.argv.slice(2).map(Number);
const site = 'bench';
const ours = { workflowId: 'deploy_site:bench', runId: 'r1' };

const store = await openStore('sqlite::memory:');
await store.migrate();
await store.sites.create({ name: site });
const names = Array.from({ length: nodes }, (_unused, at) => `n${String(at).padStart(4, '0')}`);
await store.sites.addRevision(site, resolvedRevision([{ name: 'site.yaml', text: siteDocuments(names, 6) }]));
await store.claims.claim({ site }, { ...ours, executionId: ours.runId });

async function loadPlan(): Promise<void> {
  const { load_plan } = storeActivities(store);
  const environment = new MockActivityEnvironment(
    { workflowExecution: { workflowId: ours.workflowId, runId: ours.runId } },
    { logger: new DefaultLogger('ERROR') },
  );
  const request: LoadPlan = { kind: 'deploy_site', site };
  const answer: LoadPlanAnswer = await environment.run(load_plan, request);
  if (!answer.ok || answer.plan.nodes.length !== nodes) throw new Error(JSON.stringify(answer).slice(0, 500));
}

async function resolveAgain(): Promise<void> {
  const { files } = await store.sites.getRevision(site, 'latest');
  if (loadSite(files).site?.nodes.length !== nodes) throw new Error('the documents are not valid');
}

const took = { loadPlan: [] as number[], resolveAgain: [] as number[] };
for (let round = 0; round < rounds; round += 1) {
  const works = [['loadPlan', loadPlan] as const, ['resolveAgain', resolveAgain] as const];
  for (const [name, work] of round % 2 === 0 ? works : works.reverse()) {
    const from = performance.now();
    await work();
    took[name].push(performance.now() - from);
  }
}
await store.close();

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1]!;
const [now, again] = [median(took.loadPlan), median(took.resolveAgain)];
console.log(`${nodes} nodes, medians of ${rounds}: load_plan ${now.toFixed(1)} ms`);
console.log(
  `reading and resolving the documents again ${again.toFixed(1)} ms: ${((now + again) / now).toFixed(1)} times as long together`,
);
