import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, type WorkerOptions } from '@temporalio/worker';
import { programVersion } from './program-version.ts';

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
  const built = builtBundle(codePath);
  if (dataConverter === undefined && existsSync(built)) return { codePath: built };
  const failures = dataConverter?.failureConverterPath;
  return await bundleWorkflowCode({
    workflowsPath: workflowModule('index'),
    payloadConverterPath: workflowModule('payload-converter'),
    workflowInterceptorModules: [workflowModule('interceptors')],
    ...(failures === undefined ? {} : { failureConverterPath: failures }),
    logger: new DefaultLogger('ERROR'),
  });
}

/**
 * Names the build of a worker: version of the program and content of the workflows, so that builds between two releases differ
 * too. With encryption as without, it is the content that was built, where it was: the same on each machine.
 */
export async function buildOf(
  bundle: NonNullable<WorkerOptions['workflowBundle']>,
  codePath?: string,
): Promise<string> {
  const built = builtBundle(codePath);
  const content = existsSync(built) || !('code' in bundle) ? await readFile(built) : bundle.code;
  return `${programVersion()}+${createHash('sha256').update(content).digest('hex').slice(0, 8)}`;
}

const builtBundle = (codePath?: string): string =>
  codePath ?? fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));

/** A compiled module, or its source when running from source. */
function workflowModule(name: string): string {
  const compiled = fileURLToPath(new URL(`../workflows/${name}.js`, import.meta.url));
  return existsSync(compiled) ? compiled : compiled.replace(/\.js$/, '.ts');
}
