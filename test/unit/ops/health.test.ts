import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HealthOperations } from '../../../src/ops/health.ts';
import type { OpsDependencies } from '../../../src/ops/index.ts';

const NOW = Date.parse('2026-05-01T12:00:00Z');
const never = (): Promise<never> => new Promise(() => {});

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

/** A healthy system except for the given parts: when workers polled last, in seconds before now; how MAAS answers. */
function health(
  polled: readonly number[],
  version: () => Promise<{ version: string }> = async () => ({ version: '3.6' }),
) {
  const pollers = polled.map((ago) => ({ lastAccessTime: { seconds: NOW / 1000 - ago } }));
  return new HealthOperations({
    store: { status: async () => ({ pending: [], dialect: 'sqlite', location: 'here', schemaVersion: 4 }) },
    temporal: {
      address: 'here:1',
      namespace: 'default',
      taskQueue: 'q',
      connection: {
        withDeadline: (_until: number, work: () => unknown) => work(),
        workflowService: {
          getSystemInfo: async () => ({ serverVersion: '1.29' }),
          describeNamespace: async () => ({}),
          describeTaskQueue: async () => ({ pollers }),
        },
      },
    },
    maas: () => ({ client: { version, whoami: async () => ({ username: 'admin', editsMachines: true }) } }),
  } as unknown as OpsDependencies);
}

it.each([
  [[], false, 'no worker polls task queue q'],
  [[30], true, '1 worker polls task queue q'],
  [[30, 61], true, '2 workers poll task queue q'],
  // Temporal keeps listing a worker that was killed.
  [[30, 200], true, '1 worker polls task queue q'],
  [[200, 250], false, 'no worker polls task queue q any more; the last poll was 200 s ago'],
])('workers that polled %j seconds ago', async (polled, ok, message) => {
  const { checks } = await health(polled).check();
  expect(checks.find(({ name }) => name === 'worker')).toMatchObject({ ok, message });
});

it('a dependency that does not answer counts as unavailable after seconds, and delays nothing else', async () => {
  const asked = health([1], never).check();
  await vi.advanceTimersByTimeAsync(8_000);
  const { ok, checks } = await asked;
  expect(ok).toBe(false);
  expect(checks.filter((one) => !one.ok)).toEqual([
    {
      name: 'maas',
      ok: false,
      message: 'MAAS does not answer within 8 s: it hangs or is overloaded, or packets to it are dropped',
      fix: "Check the region controller, then run 'sitewright maas check'.",
    },
  ]);
});

it('no timer is left behind', async () => {
  await health([1]).check();
  expect(vi.getTimerCount()).toBe(0);
});

it('is asked once for all who ask at the same time or within seconds, and again later', async () => {
  let asked = 0;
  const system = health([30], async () => {
    asked += 1;
    return { version: '3.6' };
  });
  await Promise.all(Array.from({ length: 300 }, () => system.check()));
  const [first] = [asked];
  expect(first).toBeGreaterThan(0);
  await system.check();
  expect(asked).toBe(first);
  vi.setSystemTime(NOW + 10_000);
  await system.check();
  expect(asked).toBe(2 * first!);
});
