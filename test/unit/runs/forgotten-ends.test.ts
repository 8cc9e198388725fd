import { afterAll, beforeAll, expect, it } from 'vitest';
import { closedOutcome } from '../../../src/runs/find-execution.ts';
import { closeGone, lostRun, type RunEnd } from '../../../src/runs/life.ts';
import { openStore, type Store } from '../../../src/store/index.ts';

/* A store that was restored from an older copy has runs as open that have ended since. */
let store: Store;
beforeAll(async () => {
  store = await openStore('sqlite::memory:');
});
afterAll(() => store.close());

let runs = 0;
async function closed(kind: string, end: Omit<RunEnd, 'at'>, parameters = {}) {
  const id = `run-${++runs}`;
  const open = { id, sequence: 1, workflowId: `${kind}:${id}`, temporalRunId: id, kind, parameters };
  await store.runs.put({ ...open, startedAt: '2026-11-01T00:00:00Z', phase: 'baremetal' });
  const announced: string[] = [];
  const ends = {
    end: async () => ({ ...end, at: new Date('2026-11-01T01:00:00Z') }),
    announceEnd: async () => void announced.push(id),
  };
  const seen = await lostRun(store, await store.runs.get(id), await ends.end());
  await closeGone({ store, ...ends });
  const { outcome } = await store.runs.get(id);
  // Whoever looked before it was closed has seen the same.
  expect(seen).toEqual({ run: { ...(await store.runs.get(id)), sequence: 1 }, report: await store.runs.getReport(id) });
  return { outcome, report: (await store.runs.getReport(id)) as object };
}

it.each(['success', 'success_with_failures', 'stopped'] as const)(
  'a site run that ended as %s has that in its row and in its report, which says what is lost',
  async (outcome) => {
    const run = await closed('deploy_site', { outcome });
    expect(run.outcome).toBe(outcome);
    expect(run.report).toMatchObject({ outcome, ended_at: '2026-11-01T01:00:00.000Z' });
    expect(run.report).toMatchObject({
      warnings: [
        expect.stringMatching(
          /the store has lost .*: temporal workflow query --workflow-id \S+ --run-id run-\d+ --type report$/,
        ),
      ],
    });
  },
);

it('a run of graphs that changed nothing is still one that changes nothing', async () => {
  const run = await closed('execute_graph', { outcome: 'nothing_to_do' }, { cluster: 1, mode: 'dry_run' });
  expect(run).toMatchObject({ outcome: 'nothing_to_do', report: { outcome: 'nothing_to_do', mode: 'dry_run' } });
});

it.each(['failed', 'terminated', 'lost'] as const)(
  'a run that %s before it could write its report says so',
  async (outcome) => {
    const run = await closed('deploy_site', { outcome, reason: 'tests' });
    const warnings = [`the run ended as ${outcome} before it could write its report`];
    expect(run).toMatchObject({ outcome, report: { outcome, reason: 'tests', warnings } });
  },
);

it.each([
  ['deploy_site', { limits: { overridden: 'a power cut' } }],
  ['execute_graph', { overridden: { limits: 'a power cut' } }],
])('the report of a lost %s says that it went beyond limits, and why', async (kind, said) => {
  const run = await closed(kind, { outcome: 'terminated' }, { cluster: 1, override_limits: 'a power cut' });
  expect(run.report).toMatchObject(said);
});

it.each([
  ['COMPLETED', { outcome: 'stopped' }, 'stopped'],
  ['COMPLETED', { outcome: 'nothing_to_do' }, 'nothing_to_do'],
  ['COMPLETED', undefined, 'success'],
  ['COMPLETED', 'by hand', 'success'],
  ['FAILED', undefined, 'failed'],
  ['TIMED_OUT', undefined, 'failed'],
  ['CANCELLED', undefined, 'cancelled'],
  ['TERMINATED', undefined, 'terminated'],
])('an execution that is %s with the result %j ended as %s', (status, result, outcome) => {
  expect(closedOutcome(status, result)).toBe(outcome);
});
