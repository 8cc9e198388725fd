import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ControlJudge, ControlOrder } from '../../src/agent/index.ts';
import { controlQueue, nodeQueue } from '../../workflows/protocol.ts';
import { AgentSite, eventually } from '../rig/agent-site.ts';
import { cancelTasks } from '../rig/workflows/counted-tasks.ts';

let site: AgentSite;
beforeAll(async () => {
  site = await AgentSite.open();
});
afterAll(() => site.close());

/** An orchestrator whose operators have ordered nothing yet. */
class Operators implements ControlJudge {
  order: ControlOrder | undefined;
  asked = 0;
  away = 0;

  async cancelled(): Promise<ControlOrder | undefined> {
    this.asked += 1;
    if (this.away-- > 0) throw new Error('the gateway is away');
    return this.order;
  }

  async drained(): Promise<ControlOrder | undefined> {
    return this.order;
  }
}

it('a cancellation in Temporal alone ends no task, and the node continues', async () => {
  const control = new Operators();
  const gate = site.gate('kept');
  await site.agents(['steady'], { control });
  const run = await site.start({ nodes: site.queues(['steady']), tasks: ['kept'] });
  await gate.started();
  await run.signal(cancelTasks);
  await eventually(() => control.asked > 0);
  gate.open();
  expect((await run.result())['kept@steady']).toMatchObject({ outcome: 'success', exit_code: 0 });
  expect(await site.logged('kept', 'steady')).toBe('before\nafter\n');
  const next = await site.start({ run: 'r2', nodes: site.queues(['steady']), tasks: ['next'] });
  expect((await next.result())['next@steady']).toMatchObject({ outcome: 'success' });
});

it("an operator's later order ends the task, which names the operator; an unavailable gateway is asked again", async () => {
  const control = new Operators();
  const gate = site.gate('late');
  await site.agents(['ordered'], { control });
  const run = await site.start({ nodes: site.queues(['ordered']), tasks: ['late'] });
  await gate.started();
  control.away = 2;
  await run.signal(cancelTasks);
  await eventually(() => control.asked > 0);
  control.order = { reason: 'wrong release', by: 'nina' };
  const end = (await run.result())['late@ordered'];
  expect(end).toMatchObject({ outcome: 'cancelled' });
  expect(end?.message).toContain('was cancelled by nina: wrong release');
  expect(await site.logged('late', 'ordered')).toBe('before\n');
});

it('an agent exits when it is stopped, also while a task runs that Temporal has cancelled', async () => {
  const control = new Operators();
  const gate = site.gate('left');
  const agents = await site.agents(['going'], { control });
  const run = await site.start({ nodes: site.queues(['going']), tasks: ['left'] });
  await gate.started();
  await run.signal(cancelTasks);
  await eventually(() => control.asked > 0);
  await agents.stop();
  gate.open();
  // The server does not retry a cancelled activity; the task itself ran to completion.
  await run.result();
  const again = await site.agents(['going'], { control });
  const followed = await site.start({ nodes: site.queues(['going']), tasks: ['left'] });
  expect((await followed.result())['left@going']).toMatchObject({ outcome: 'success' });
  expect(site.counted('going')).toEqual(['left']);
  await agents.stop();
  await again.stop();
});

it('access to Temporal alone does not drain an agent', async () => {
  const control = new Operators();
  const agents = await site.agents(['undrained'], { control });
  const queue = controlQueue(nodeQueue(site.site, 'undrained'));
  const refusal = await site.control('drain', queue, 'undrained').then(
    () => 'drained',
    (error: unknown) => JSON.stringify(error, ['cause', 'message', 'type']),
  );
  expect(refusal).toContain('no operator has ordered to drain the agent of undrained');
  const run = await site.start({ run: 'r3', nodes: site.queues(['undrained']), tasks: ['a'] });
  expect((await run.result())['a@undrained']).toMatchObject({ outcome: 'success' });
  control.order = { reason: 'an upgrade', by: 'nina' };
  expect(await site.control('drain', queue, 'undrained')).toEqual({ unfinished: [] });
  await agents.done;
});
