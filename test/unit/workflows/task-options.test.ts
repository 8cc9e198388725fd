import { expect, it } from 'vitest';
import { nodeTask, ofMaster, type Patience, takeSeconds } from '../../../workflows/task-options.js';

const patience: Patience = { heartbeat_seconds: 20, agent_heartbeat_seconds: 65, offline_wait_seconds: 120 };

it('slower heartbeats of agents do not make a run notice later that one is away', () => {
  const { agent_heartbeat_seconds: _, ...before } = patience;
  const noticed = (one: Patience): number => {
    const { heartbeatTimeout, scheduleToStartTimeout } = nodeTask('a@1', '', 'q', 60, one);
    return Number(heartbeatTimeout) + Number(scheduleToStartTimeout);
  };
  expect(noticed(patience)).toBe(140_000);
  expect(noticed(before)).toBe(140_000);
});

it('tasks of the worker itself keep the limit of workers', () => {
  expect(nodeTask('a@master', '', 'q', 60, ofMaster(patience))).toMatchObject({ heartbeatTimeout: 20_000 });
});

it('a node that answers but stays busy is asked half as often each time, at most once an hour', () => {
  expect([1, 2, 3, 9].map((times) => takeSeconds(patience, times))).toEqual([75, 150, 300, 3_600]);
});
