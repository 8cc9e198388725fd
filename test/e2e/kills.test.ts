import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { MachineStatus } from '../../src/maas/index.js';
import { exampleDocuments, exampleHosts } from '../rig/living-site.js';
import { type ProcessSystem, processSystem } from '../rig/process-system.js';

/**
 * Real processes, killed with SIGKILL at random moments of a run and started again. Whatever is
 * killed, the run ends well and MAAS saw one deploy a node.
 */
const KILLS = 21;
const PER_RUN = 7;

let system: ProcessSystem;
beforeAll(async () => {
  system = await processSystem({
    hosts: exampleHosts,
    commissionMs: 900,
    deployMs: 1_500,
    temporal: { address: inject('temporalAddress') },
  });
}, 180_000);
afterAll(() => system.stop(), 60_000);

/** Small, fixed sequence: a failure can be run again as it was. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

describe('kill -9', () => {
  const targets = ['worker', 'api', 'maas'] as const;

  it.each(Array.from({ length: KILLS / PER_RUN }, (_unused, run) => run))(
    `of worker, API or simulator at ${PER_RUN} random moments of run %i loses nothing and repeats no deploy`,
    async (run) => {
      const next = random(4711 + run);
      const site = `stl${run}`;
      await system.reset();
      await system.post('/api/v1/sites', { name: site });
      await system.post(`/api/v1/sites/${site}/revisions`, { files: await exampleDocuments() });
      const { id } = (await system.post(`/api/v1/sites/${site}/runs`, { kind: 'deploy_site' })) as { id: string };
      const killed: string[] = [];
      for (let kill = 0; kill < PER_RUN; kill += 1) {
        await system.after(Math.floor(next() * 1_200));
        const target = targets[Math.floor(next() * targets.length)]!;
        killed.push(target);
        await system.kill(target);
        await system.restart(target);
      }
      const report = await system.finished(id);
      expect({ killed, outcome: report.outcome, reason: report.reason }).toEqual({
        killed,
        outcome: 'success',
        reason: undefined,
      });
      expect(report.baremetal!.nodes_by_state.success).toHaveLength(exampleHosts.length);
      const deploys = await system.entered(MachineStatus.Deploying);
      expect(deploys).toEqual(Object.fromEntries(exampleHosts.map((host) => [host, 1])));
    },
    240_000,
  );
});
