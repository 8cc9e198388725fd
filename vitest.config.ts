import { defineConfig } from 'vitest/config';

/** These talk to the one dev server and the one workflow bundle that test/global-setup.ts provides. */
const onTemporal = (name: string, timeoutMs: number) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: timeoutMs,
    hookTimeout: 60_000,
    // Each file runs a worker with its own V8 isolate beside the server: more at once only wait for two cores.
    maxWorkers: 2,
    // After the quick suites; vitest wants projects with another number of workers in another group.
    sequence: { groupOrder: 1 },
    // Native runtimes of the SDK end with their process, not with a thread.
    pool: 'forks' as const,
  },
});

export default defineConfig({
  test: {
    // A test that needs longer than this is stuck: nothing here waits for a clock.
    testTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{unit,property,golden,architecture}/**/*.test.ts'],
          pool: 'forks',
          hookTimeout: 60_000,
          // On two cores vitest would take one by itself.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'replay',
          include: ['test/replay/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      onTemporal('workflow', 60_000),
      onTemporal('api', 60_000),
      onTemporal('cli', 60_000),
      onTemporal('ui', 120_000),
      onTemporal('e2e', 300_000),
    ],
  },
});
