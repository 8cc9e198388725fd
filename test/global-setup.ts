import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startDevServer } from '../src/platform/temporal/dev-server.ts';
import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.ts';
import { startTemporalInMemory } from './rig/temporal-in-memory.ts';
import { bundleProjectWorkflows } from './rig/workflow-bundle.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port` of the server that all test files share; `simulated`: each has one of its own in its process. */
    temporalAddress: string;
    /** The Temporal CLI, for tests that start their own server or act as operations do. */
    temporalBinary: string;
    /** The project's workflows, bundled once. */
    workflowBundlePath: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (project.name === 'system') {
    project.provide('temporalAddress', 'simulated');
    project.provide('workflowBundlePath', (await bundleProjectWorkflows()).codePath);
    return async () => undefined;
  }
  const found = await findTemporalBinary({ report: (line) => console.error(line) });
  if (found.status === 'missing') throw new Error(explainMissing(found));
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-test-'));
  // Go's collector of garbage takes a seventh of a server's time. All servers of the tests inherit this.
  process.env.GOGC ??= '400';
  // With one thread for its goroutines, it saves the eighth that it spends on waking others: eight files keep both cores busy.
  process.env.GOMAXPROCS ??= '1';
  // As .ci/newest-temporal wants it.
  const version = process.env.SITEWRIGHT_TEST_TEMPORAL_SERVER;
  // In memory: tests come and go with it, and nothing waits for a disk.
  const server =
    version === undefined
      ? await startDevServer({ binary: found.path, logFile: join(folder, 'temporal.log'), uiPort: 'none' })
      : await startTemporalInMemory(version, folder);
  try {
    const { codePath } = await bundleProjectWorkflows();
    project.provide('temporalAddress', server.address);
    project.provide('temporalBinary', found.path);
    project.provide('workflowBundlePath', codePath);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
