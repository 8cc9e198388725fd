import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, type WorkerOptions } from '@temporalio/worker';

/**
 * The workflow code of a worker: the bundle that `npm run build` made beside the compiled code, so that a worker
 * starts in a second. From source (tests, tsx) and with encryption, it is bundled when the worker starts: workflows
 * create their failures inside the bundle, with the converter that was bundled.
 *
 * The payload converter of workflows is only in the bundle: activities and clients must fail on an unreadable payload.
 */
export async function workflowCode(
  codePath?: string,
  dataConverter?: DataConverter,
): Promise<NonNullable<WorkerOptions['workflowBundle']>> {
  const built = codePath ?? fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  if (dataConverter === undefined && existsSync(built)) return { codePath: built };
  const failures = dataConverter?.failureConverterPath;
  return await bundleWorkflowCode({
    workflowsPath: workflowModule('index'),
    payloadConverterPath: workflowModule('payload-converter'),
    workflowInterceptorModules: [workflowModule('trace-context')],
    ...(failures === undefined ? {} : { failureConverterPath: failures }),
    logger: new DefaultLogger('ERROR'),
  });
}

/** A compiled module, or its source when running from source. */
function workflowModule(name: string): string {
  const compiled = fileURLToPath(new URL(`../workflows/${name}.js`, import.meta.url));
  return existsSync(compiled) ? compiled : compiled.replace(/\.js$/, '.ts');
}
