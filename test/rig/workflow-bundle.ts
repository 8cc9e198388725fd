import { installationFile } from '../../src/platform/installation.ts';
import { bundleOurWorkflows, bundleWorkflows, type WorkflowBundleFile } from '../../worker/parts/workflow-bundle.ts';
import type { TemporalRig } from './temporal.ts';

const made = (name: string): string => installationFile(`node_modules/.cache/sitewright/${name}.js`);

/** The project's workflows, bundled again only after a change. */
export const bundleProjectWorkflows = (): Promise<WorkflowBundleFile> => bundleOurWorkflows({});

/** A rig whose workers run the project's workflows with children that time out. */
export async function withHurriedChildren(rig: TemporalRig): Promise<TemporalRig> {
  const { codePath } = await bundleOurWorkflows({
    target: made('hurried-children'),
    more: ['test/rig/workflows/hurried-children.ts'],
  });
  return { ...rig, runWorker: (options) => rig.runWorker({ ...options, workflowBundle: { codePath } }) };
}

/** Bundles workflows that exist for one test only, e.g. `test/rig/workflows/sleeper.ts`. */
export async function bundleTestWorkflows(entry: string): Promise<WorkflowBundleFile> {
  const name = entry.replace(/[^a-z0-9]+/gi, '-');
  return await bundleWorkflows({
    entry: installationFile(entry),
    sources: [installationFile(entry)],
    root: installationFile('.'),
    target: made(`test-${name}`),
  });
}
