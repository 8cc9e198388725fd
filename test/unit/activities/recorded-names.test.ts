import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { believedReport, believedStatus, isApprovalRecorded } from '../../../activities/run/recorded-names.ts';
import type { AnyRunReport, AnyRunStatus } from '../../../src/core/run/status.ts';
import { starterOf } from '../../../src/runs/open-run.ts';
import { openStore, type Store } from '../../../src/store/index.ts';

let store: Store;
beforeEach(async () => {
  store = await openStore('sqlite::memory:');
  await store.migrate();
});
afterEach(() => store.close());

const AT = '2026-11-28T04:00:00.000Z';
const LATER = '2026-11-28T04:01:00.000Z';
const record = (id: string, actor: string, action: string, more: object = {}) =>
  store.audit.append({ id, actor, action, target: 'run/r1', ...more });
const trail = async () => (await store.audit.list()).items.map(({ actor, action }) => `${actor} ${action}`).sort();
const reportOf = (operator: object[], more: object = {}) => ({ operator, ...more }) as unknown as AnyRunReport;
const believed = async (operator: object[], more: object = {}, isLast = true) =>
  believedReport(store, 'r1', reportOf(operator, more), isLast);

describe('names of actions', () => {
  it('are those of entries that an API wrote before, each for one action; others are claims, and get their entry', async () => {
    await record('e1', 'nina', 'run.pause');
    await record('e2', 'otto', 'run.approve');
    await store.audit.append({ id: 'e3', actor: 'nina', action: 'run.pause', target: 'run/r2' });
    const actions = [
      { action: 'pause', at: AT, by: 'nina', entry: 'e1' },
      { action: 'pause', at: LATER, by: 'nina', entry: 'e1' },
      { action: 'resume', at: AT, by: 'nina', entry: 'e1' },
      { action: 'approve', at: AT, by: 'nina', entry: 'e2', before: 'b' },
      { action: 'stop', at: AT, by: 'nina' },
      { action: 'retry_node', at: AT, by: 'nina', entry: 'e3', node: 'n1' },
      { action: 'skip_task', at: AT },
      { action: 'cancel', at: AT },
    ];
    const { operator } = await believed(actions);
    const claim = 'temporal, says nina';
    expect(operator.map(({ by }) => by)).toEqual([
      ...['nina', claim, claim, claim, claim, claim],
      ...[undefined, undefined],
    ]);
    const once = await trail();
    expect(once).toEqual([
      ...['nina run.pause', 'nina run.pause', 'otto run.approve'],
      ...['temporal run.skip_task', `${claim} run.approve`, `${claim} run.pause`],
      ...[`${claim} run.resume`, `${claim} run.retry_node`, `${claim} run.stop`],
    ]);
    await believed(actions);
    expect(await trail()).toEqual(once);
  });

  it('are the same in holds, in the reason of a rejection and in the status', async () => {
    const hold = { before: '*', decision: 'rejected', decided_at: AT, by: 'nina' };
    const actions = [
      { action: 'reject', at: AT, by: 'nina', before: '*' },
      { action: 'pause', at: LATER, by: 'otto' },
    ];
    const report = await believed(actions, { holds: [hold], reason: 'rejected before any change by nina' });
    expect(report.holds).toEqual([{ ...hold, by: 'temporal, says nina' }]);
    expect(report.reason).toBe('rejected before any change by temporal, says nina');
    const status = { paused: { since: LATER, by: 'otto' } } as unknown as AnyRunStatus;
    expect(believedStatus(status, report).paused).toEqual({ since: LATER, by: 'temporal, says otto' });
  });

  it('wait for an entry that is on its way, until the run ends', async () => {
    const action = { action: 'stop', at: new Date().toISOString(), by: 'nina', entry: 'late' };
    await believed([action], {}, false);
    expect(await trail()).toEqual([]);
    await record('late', 'nina', 'run.stop');
    expect((await believed([action], {}, false)).operator).toEqual([action]);
    expect(await trail()).toEqual(['nina run.stop']);
  });
});

describe('an approval', () => {
  const asked = { run_id: 'r1', entry: 'e1', by: 'nina' };

  it('counts when an API has recorded exactly it', async () => {
    expect(await isApprovalRecorded(store, asked)).toBe(false);
    await record('e1', 'nina', 'run.approve');
    expect(await isApprovalRecorded(store, asked)).toBe(true);
    await record('e2', 'nina', 'run.approve', { details: { before: 'b' } });
    expect(await isApprovalRecorded(store, { ...asked, entry: 'e2', before: 'b' })).toBe(true);
  });

  it.each([
    ['of another run', 'run.approve', {}, { run_id: 'r2' }],
    ['by another person', 'run.approve', {}, { by: 'otto' }],
    ['of something else', 'run.approve', { details: { before: 'b' } }, { before: 'c' }],
    ['of one thing, for all', 'run.approve', { details: { before: 'b' } }, {}],
    ['that is a pause', 'run.pause', {}, {}],
    ['that is old', 'run.approve', { at: AT }, {}],
  ])('does not count %s', async (_name, action, recorded, other) => {
    await record('e1', 'nina', action, recorded);
    expect(await isApprovalRecorded(store, { ...asked, ...other })).toBe(false);
  });

  it('does not count once a run has refused it', async () => {
    await record('e1', 'nina', 'run.approve');
    await record('e1-refused', 'nina', 'run.approve');
    expect(await isApprovalRecorded(store, asked)).toBe(false);
  });
});

describe('who started a run', () => {
  const run = { workflowId: 'deploy_site:dc1', runId: 'r1' };
  const children = [{ workflowId: 'execute_graph:1:x', runId: 'c1' }];
  const deps = () => ({ store, execution: async () => ({ runId: 'p1', isOpen: true, children, errors: {} }) });
  const passedOn = (id: string, actor: string, workflow = run.workflowId) =>
    store.audit.append({ id, actor, action: 'run.start', target: `workflow/${workflow}` });

  it('is a claim, unless an API has passed the start on, for this workflow, and for one run', async () => {
    await passedOn('s1', 'alice');
    await passedOn('s2', 'alice', 'deploy_site:dc2');
    const claim = { started_by: 'temporal, says alice' };
    expect(await starterOf(deps(), run, 'alice', {})).toEqual(claim);
    expect(await starterOf(deps(), run, 'alice', { entry: 's2' })).toEqual(claim);
    expect(await starterOf(deps(), run, 'bob', { entry: 's1' })).toEqual({ started_by: 'temporal, says bob' });
    expect(await starterOf(deps(), run, undefined, {})).toEqual({});
    expect(await starterOf(deps(), run, 'alice', { entry: 's1' })).toEqual({ started_by: 'alice', entry: 's1' });
    await store.audit.append({
      ...{ id: 'start-s1', actor: 'alice', action: 'run.deploy_site', target: 'site/dc1' },
      details: { run: 'r1' },
    });
    expect(await starterOf(deps(), run, 'alice', { entry: 's1' })).toMatchObject({ started_by: 'alice' });
    expect(await starterOf(deps(), { ...run, runId: 'r2' }, 'alice', { entry: 's1' })).toEqual(claim);
  });

  it('of a child is who started its parent, which Temporal knows', async () => {
    const child = { workflowId: 'execute_graph:1:x', runId: 'c1' };
    await store.runs.put({
      ...{ id: 'p1', sequence: 0, workflowId: 'deploy_site:dc1', kind: 'deploy_site', phase: 'software' },
      ...{ startedAt: AT, startedBy: 'alice' },
    });
    const of = (name: string, more = child) => starterOf(deps(), more, name, { parent: 'deploy_site:dc1' });
    expect(await of('alice')).toEqual({ started_by: 'alice', parent: 'p1' });
    expect(await of('bob')).toEqual({ started_by: 'temporal, says bob' });
    expect(await of('alice', { ...child, workflowId: 'forged' })).toEqual({ started_by: 'temporal, says alice' });
  });
});
