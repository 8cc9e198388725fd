import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';

/**
 * The workflow code of a worker: the bundle that `npm run build` made beside the compiled code, so that a worker
 * starts in a second. From source (tests, tsx), the worker bundles it when it starts.
 */
export function workflowCode(
  codePath?: string,
  dataConverter?: DataConverter,
): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'dataConverter'> {
  const built = codePath ?? fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  // Workflows create their failures inside the bundle, with the converter that was bundled.
  if (dataConverter === undefined && existsSync(built)) return { workflowBundle: { codePath: built } };
  return {
    workflowsPath: workflowModule('index'),
    dataConverter: { ...dataConverter, payloadConverterPath: workflowModule('payload-converter') },
  };
}

/** A compiled module, or its source when running from source. */
function workflowModule(name: string): string {
  const compiled = fileURLToPath(new URL(`../workflows/${name}.js`, import.meta.url));
  return existsSync(compiled) ? compiled : compiled.replace(/\.js$/, '.ts');
}
