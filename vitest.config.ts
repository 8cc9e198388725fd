import { defineConfig } from 'vitest/config';
import LongestFirst from './test/longest-first.js';

/**
 * Three times the two cores that are counted on: a file that works with servers and processes waits for them two thirds of
 * its time.
 * Vitest itself would take one on two cores. The same everywhere, since it wants projects with different numbers to run
 * one after the other.
 */
const FILES_AT_ONCE = 6;

/** These talk to the one dev server and the one workflow bundle that test/global-setup.ts provides. */
const onTemporal = (name: string, timeoutMs: number) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: timeoutMs,
    hookTimeout: 120_000,
    maxWorkers: FILES_AT_ONCE,
    // Native runtimes of the SDK end with their process, not with a thread.
    pool: 'forks' as const,
  },
});

export default defineConfig({
  test: {
    // Each process loads the modules once, not once for each file. Files must not change what others see, so they restore
    // what they change of the process (environment, folder, streams).
    isolate: false,
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/property-seed.ts'],
    // A module is compiled once, for all projects and until it changes: in node_modules/.experimental-vitest-cache.
    experimental: { fsModuleCache: true },
    // A test that needs longer than this is stuck: nothing here waits for a clock. Enough for a machine that others use too.
    testTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{unit,property,golden,architecture}/**/*.test.ts'],
          globalSetup: ['test/unit-setup.ts'],
          pool: 'forks',
          hookTimeout: 60_000,
          maxWorkers: FILES_AT_ONCE,
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
          maxWorkers: FILES_AT_ONCE,
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
