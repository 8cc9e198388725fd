import { expect, it } from 'vitest';
import { isRunning, ownIdentity } from '../../../src/platform/processes/process-identity.ts';

it('another process passes for none of an earlier boot, nor for one that started at another moment', () => {
  const own = ownIdentity();
  expect(isRunning(own, own.bootId)).toBe(true);
  // After a restart, numbers and moments begin again.
  expect(isRunning({ ...own, bootId: 'before' }, own.bootId)).toBe(false);
  expect(isRunning({ ...own, startTime: `${own.startTime}0` }, own.bootId)).toBe(false);
});
