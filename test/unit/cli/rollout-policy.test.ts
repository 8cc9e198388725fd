import { expect, it } from 'vitest';
import { policyText } from '../../../src/cli/views/rollout.ts';
import { strategyText } from '../../../src/cli/views/strategy.ts';

const group = {
  ...{ name: 'workers', critical: false, depends_on: [], nodes: ['n1', 'n2', 'n3'] },
  ...{ success_criteria: {}, successes_needed: 0 },
};
const shown = (more: object): string =>
  strategyText({ name: 's', order: ['workers'], groups: [{ ...group, ...more }], warnings: [] });

it('a strategy shows waves, soak and limit of a rollout, and nothing of a group without one', () => {
  expect(shown({ waves: [1, 2], soak: 600, stop_at: 3 })).toContain(
    'in 2 waves: 1, 2 nodes; each soaks for 10m00s; stops at 3 failed nodes\n',
  );
  expect(shown({ waves: [3], soak: 0, stop_at: 1 })).toContain('in 1 wave: 3 nodes; stops at 1 failed node\n');
  expect(shown({})).not.toContain('wave');
});

it.each([
  [{ first: 1, growth: 'double', soak: 0, stop_at: { failed: 1 } }, 'first 1, then double, stops at 1 failed'],
  [
    { first: '10%', growth: { add: 5 }, soak: 90, stop_at: { percent: 5 } },
    'first 10%, then add 5, soak 90 s, stops at 5 % failed',
  ],
  [{ first: 2, growth: { by: '20%' }, soak: 0, stop_at: { failed: 3 } }, 'first 2, then by 20%, stops at 3 failed'],
] as const)('a report names the policy that applied: %j', (policy, text) => {
  expect(policyText(policy)).toBe(text);
});
