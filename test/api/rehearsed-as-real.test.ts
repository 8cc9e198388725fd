import { readFileSync } from 'node:fs';
import { MachineStatus } from '@sitewright/maas';
import type { Seed } from '@sitewright/maas-simulator';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Rehearsal } from '../../src/core/contracts/rehearsals.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { readDocumentFiles } from '../../src/documents/index.ts';
import { installationFile } from '../../src/platform/installation.ts';
import { bundleOurWorkflows } from '../../worker/parts/workflow-bundle.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookAgain } from '../rig/look-again.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { type ApiRig, apiOfSite } from './api-rig.ts';

let rig: TemporalRig;
let site: LivingSite;
let api: ApiRig;

beforeAll(async () => {
  await bundleOurWorkflows({});
  rig = await temporalRig({ namespace: 'own' });
});
afterEach(async () => {
  await api.close();
  await site.close();
});
afterAll(() => rig.close());

/** What happens in a run, without when, and without what is the machine's own. */
function happening({ outcome, reason, next_step, phases, warnings, baremetal }: RunReport) {
  return {
    ...{ outcome, reason, next_step, warnings },
    phases: phases.map(({ name, state, detail }) => [name, state, detail]),
    groups: (baremetal?.groups ?? []).map(({ name, state, calls, criteria, reason: why }) => ({
      ...{ name, state, criteria, reason: why },
      calls: calls.map(({ call, nodes, timed_out }) => [call, nodes, timed_out]),
    })),
    nodes: [...(baremetal?.nodes ?? [])]
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, group, state, attempts, failed_in, failure_kind, hint, warnings: own }) => ({
        ...{ name, group, state, attempts, failed_in, failure_kind, hint },
        warnings: own,
      })),
  };
}

/** The steps that machines took in MAAS, in the order of each. */
const stepsIn = ({ steps }: Rehearsal, node: string): string[] =>
  steps.flatMap((step) => (step.node === node ? [`${step.what} ${step.state}`] : []));

async function asked<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
  const answer = await api.ask(method, `/api/v1/sites/stl1/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as T;
}

async function lived(body: object): Promise<RunReport> {
  const { id } = await asked<{ id: string }>('POST', 'runs', { kind: 'deploy_site', ...body });
  for (;;) {
    const run = await api.ask('GET', `/api/v1/runs/${id}`);
    if (run.body.outcome !== null) break;
    await lookAgain();
  }
  return (await api.ask('GET', `/api/v1/runs/${id}/report`)).body as RunReport;
}

async function living(seed: Seed, files: { name: string; text: string }[], fails: readonly string[] = []) {
  site = await livingSite(rig, { seed, auto: { fail: { deploy: fails } } });
  api = await apiOfSite(rig, site);
  await asked('POST', 'revisions', { files });
}

it('stl1, with new, broken and failing machines, goes in its rehearsal as it goes then', async () => {
  const states = [MachineStatus.New, MachineStatus.Ready, MachineStatus.Broken, MachineStatus.New];
  const machines = exampleHosts.map((hostname, at) => ({
    ...{ hostname, power_type: 'ipmi', status: states[at] ?? MachineStatus.Ready },
  }));
  await living({ machines }, await exampleDocuments(), ['stl1r01s07']);
  const rehearsal = await asked<Rehearsal>('POST', 'rehearsals', { fail_nodes: ['stl1r01s07'] });
  const real = await lived({});
  expect(happening(rehearsal.report as RunReport)).toEqual(happening(real));
  expect(stepsIn(rehearsal, 'stl1r01s07')).toEqual(['prepare success', 'deploy failed']);
  // Each phase, and each call of a group, is in the story.
  const story = rehearsal.events.map(({ text }) => text).join('\n');
  for (const { name } of real.phases) expect(story).toContain(name.replaceAll('_', ' '));
  for (const { name, calls } of real.baremetal!.groups)
    for (const { call } of calls) expect(story).toContain(`group ${name}: ${call}`);
  // Once more: what is deployed stays.
  const again = await asked<Rehearsal>('POST', 'rehearsals', {
    kind: 'update_site',
    fail_nodes: ['stl1r01s07'],
  });
  expect(happening(again.report as RunReport)).toEqual(happening(await lived({ kind: 'update_site' })));
});

it('webstack, with its disks and networks, goes in its rehearsal as it goes then', async () => {
  const seed = JSON.parse(readFileSync(installationFile('examples/webstack/machines.json'), 'utf8')) as Seed;
  const { files } = await readDocumentFiles([installationFile('examples/webstack/site')]);
  await living(seed, [...files]);
  const rehearsal = await asked<Rehearsal>('POST', 'rehearsals', {});
  const real = await lived({});
  expect(real.outcome).toBe('success');
  expect(happening(rehearsal.report as RunReport)).toEqual(happening(real));
  const body = { kind: 'redeploy_nodes', nodes: ['web-app-1'], erase: true };
  const redeployed = await asked<Rehearsal>('POST', 'rehearsals', body);
  expect(stepsIn(redeployed, 'web-app-1')).toEqual(['release success', 'prepare success', 'deploy success']);
  // It is deployed now: its release and the erasing of its disks take their time.
  const [release] = redeployed.steps;
  expect(release!.to - release!.from).toBeGreaterThan(250);
  expect(happening(redeployed.report as RunReport)).toEqual(happening(await lived(body)));
});
