import { expect, it } from 'vitest';
import { freePorts } from '../../../src/platform/free-port.ts';

it('free ports are all different, and none is one that outgoing connections take', async () => {
  const ports = await freePorts(500);
  expect(new Set(ports).size).toBe(500);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
