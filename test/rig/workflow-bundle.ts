import { readFile } from 'node:fs/promises';
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

/** Texts of the bundle, and what they are without a work-around. */
type Changes = readonly (readonly [is: string, was: string])[];

/** What the SDK does to replay makes us do these; without one of them, a run is not replayed as it was recorded. */
export const WORKAROUNDS = {
  /** `refuseQueriesAhead` of workflows/run/interceptors.ts */
  queriesAhead: [['if (isRefused) throw', 'if (false) throw']],
  /** `afterResults` of workflows/run/border.ts */
  afterResults: [
    ['return afterResults().then(', 'return ({ then: (handler) => handler() }).then('],
    // On a busy machine, rows of the history would be due before the update: then nothing is taken together.
    ['const intervalOf = ({ graph })=>', 'const intervalOf = ({ graph })=>600_000 + '],
  ],
} as const satisfies Record<string, Changes>;

/** The project's workflows without one of them: the option `workflowBundle` of a worker. */
export async function bundleWithout(workaround: Changes): Promise<{ readonly code: string }> {
  let code = await readFile((await bundleProjectWorkflows()).codePath, 'utf8');
  for (const [is, was] of workaround) {
    const parts = code.split(is);
    if (parts.length !== 2) throw new Error(`the bundle has '${is}' ${parts.length - 1} times`);
    code = parts.join(was);
  }
  return { code };
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
