import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

/**
 * The workflow code of a worker: the bundle that `npm run build` made beside the compiled code, so that a worker
 * starts in a second. From source (tests, tsx), the worker bundles it when it starts.
 */
export function workflowCode(
  codePath?: string,
  isEncrypted = false,
): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> {
  const compiled = fileURLToPath(new URL('../workflows/index.js', import.meta.url));
  // Workflows create their failures inside the bundle, with the converter that was bundled.
  if (isEncrypted && existsSync(compiled)) return { workflowsPath: compiled };
  if (isEncrypted) return { workflowsPath: compiled.replace(/\.js$/, '.ts') };
  const built = codePath ?? fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  if (existsSync(built)) return { workflowBundle: { codePath: built } };
  return { workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)) };
}
