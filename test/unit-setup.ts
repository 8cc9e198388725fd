import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { memoryFolder } from './rig/memory-folder.ts';
import { endPostgresIn } from './rig/postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** For things that test files of a process share, and no file can end: removed after the last. */
    unitFolder: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(memoryFolder(), 'sitewright-unit-'));
  // The database server runs as a user other than root.
  await chmod(folder, 0o711);
  project.provide('unitFolder', folder);
  return async () => {
    await endPostgresIn(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
}
