import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows, type WorkflowBundleFile } from '../../scripts/workflow-bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The project's workflows, bundled from their TypeScript: what is tested is the source as it stands,
 * not what was last built. Kept in node_modules/.cache and made again only after a change.
 */
export async function bundleProjectWorkflows(): Promise<WorkflowBundleFile> {
  return await bundleWorkflows({
    entry: join(root, 'workflows/index.ts'),
    sources: ['workflows', 'src/core', 'src/yaql', 'activities/contract.ts'].map((path) => join(root, path)),
    root,
    target: join(root, 'node_modules/.cache/sitewright/workflow-bundle.js'),
    payloadConverter: join(root, 'workflows/payload-converter.ts'),
    interceptors: [join(root, 'workflows/trace-context.ts')],
  });
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
