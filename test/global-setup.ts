import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type DevServer, startDevServer } from '../src/platform/temporal/dev-server.js';
import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.js';
import { bundleProjectWorkflows } from './rig/workflow-bundle.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port` of the dev server all test files share. */
    temporalAddress: string;
    /** The Temporal CLI, for tests that start a server of their own or act as operations do. */
    temporalBinary: string;
    /** The project's workflows, bundled once; empty as long as there is no workflows/index.ts. */
    workflowBundlePath: string;
  }
}

interface Shared {
  readonly server: DevServer;
  readonly binary: string;
  readonly bundlePath: string;
  readonly folder: string;
}

/**
 * Several projects name this file as their set-up, and vitest loads it once for each: the count has to
 * live outside the module. The first to come starts the server, the last to go stops it.
 */
const place = globalThis as { sitewrightTestServer?: { shared: Promise<Shared>; users: number } };

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  place.sitewrightTestServer ??= { shared: start(), users: 0 };
  const state = place.sitewrightTestServer;
  state.users++;
  const { server, binary, bundlePath, folder } = await state.shared;
  project.provide('temporalAddress', server.address);
  project.provide('temporalBinary', binary);
  project.provide('workflowBundlePath', bundlePath);
  return async () => {
    state.users--;
    if (state.users > 0) return;
    delete place.sitewrightTestServer;
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

async function start(): Promise<Shared> {
  const found = await findTemporalBinary({ report: (line) => console.error(line) });
  if (found.status === 'missing') throw new Error(explainMissing(found));
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-test-'));
  // In memory: tests come and go with it, and nothing waits for a disk.
  const server = await startDevServer({ binary: found.path, logFile: join(folder, 'temporal.log'), uiPort: 'none' });
  try {
    const hasWorkflows = existsSync(new URL('../workflows/index.ts', import.meta.url));
    const bundlePath = hasWorkflows ? (await bundleProjectWorkflows()).codePath : '';
    return { server, binary: found.path, bundlePath, folder };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
