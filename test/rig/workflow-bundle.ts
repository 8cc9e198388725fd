import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows, type WorkflowBundleFile } from '../../scripts/workflow-bundle.mjs';
import type { TemporalRig } from './temporal.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The project's workflows, bundled from their TypeScript: what is tested is the source as it stands,
 * not what was last built. Kept in node_modules/.cache and made again only after a change.
 */
export const bundleProjectWorkflows = (): Promise<WorkflowBundleFile> => bundleProject('workflow-bundle');

const bundleProject = (name: string, more: readonly string[] = []): Promise<WorkflowBundleFile> =>
  bundleWorkflows({
    entry: join(root, 'workflows/index.ts'),
    sources: ['workflows', 'src/core', 'src/yaql', 'activities/contract.ts', ...more].map((path) => join(root, path)),
    root,
    target: join(root, `node_modules/.cache/sitewright/${name}.js`),
    payloadConverter: join(root, 'workflows/payload-converter.ts'),
    interceptors: ['workflows/interceptors.ts', ...more].map((path) => join(root, path)),
  });

/** A rig whose workers run the project's workflows with children that time out. */
export async function withHurriedChildren(rig: TemporalRig): Promise<TemporalRig> {
  const { codePath } = await bundleProject('hurried-children', ['test/rig/workflows/hurried-children.ts']);
  return { ...rig, runWorker: (options) => rig.runWorker({ ...options, workflowBundle: { codePath } }) };
}

/** Bundles workflows that exist for one test only, e.g. `test/rig/workflows/sleeper.ts`. */
export async function bundleTestWorkflows(entry: string): Promise<WorkflowBundleFile> {
  const name = entry.replace(/[^a-z0-9]+/gi, '-');
  return await bundleWorkflows({
    entry: join(root, entry),
    sources: [join(root, entry)],
    root,
    target: join(root, `node_modules/.cache/sitewright/test-${name}.js`),
  });
}
