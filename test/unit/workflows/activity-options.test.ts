import { expect, it } from 'vitest';
import type { Patience } from '../../../workflows/contract.ts';
import { type AgentPatience, nodeTask, ofMaster, takeSeconds } from '../../../workflows/run/activity-options.ts';

const patience: Patience = {
  ...{ heartbeat_seconds: 20, agent_heartbeat_seconds: 140, offline_wait_seconds: 120, busy_slack_seconds: 15 },
};

it('slower heartbeats of agents do not delay the detection of an offline one', () => {
  // Without heartbeats, the server schedules another attempt, or leaves it to the run to ask the agent.
  const noticed = (one: AgentPatience): number => {
    const { heartbeatTimeout, scheduleToStartTimeout, retry } = nodeTask('a@1', '', 'q', 60, one);
    const isAsked = retry?.nonRetryableErrorTypes?.includes('TemporalTimeout:Heartbeat') === true;
    return Number(heartbeatTimeout) + (isAsked ? 0 : Number(scheduleToStartTimeout));
  };
  expect(noticed(patience)).toBe(140_000);
  expect(noticed(ofMaster(patience))).toBe(140_000);
});

it('tasks of the worker itself keep the limit of workers', () => {
  const { heartbeatTimeout, retry } = nodeTask('a@master', '', 'q', 60, ofMaster(patience));
  expect(heartbeatTimeout).toBe(20_000);
  expect(retry).not.toHaveProperty('nonRetryableErrorTypes');
});

it('a node that answers but stays busy is asked half as often each time, at most once an hour', () => {
  expect([1, 2, 3, 9].map((times) => takeSeconds(patience, times))).toEqual([60, 120, 240, 3_600]);
});
