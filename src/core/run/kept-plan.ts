/** That a run which waits for a person goes on with the plan that it has, and how to get another: of everything that shows one. */

const KEEPS = 'documents, package versions and settings as they were';

/** @param since when the held graph was planned, if it is known */
export function keptByHeld({ since, cluster, transaction }: HeldRun): KeptPlan {
  const run = transaction ?? 'RUN';
  return {
    text: `it keeps the plan of its start${since === undefined ? '' : ` (${since})`}, with ${KEEPS} then; so do retries`,
    commands: [`sitewright run stop ${run}`, `sitewright graph execute --cluster ${cluster} --from ${run}`],
  };
}

/** Of a run that waits for approval. @param run how commands name it */
export const keptByWaiting = (run: string | number, isOfSite: boolean): KeptPlan => ({
  text: `it keeps the plan that it has, with ${KEEPS}, whenever it is approved`,
  commands: [`sitewright run reject ${run}`, `sitewright run again ${run}${isOfSite ? ' --revision latest' : ''}`],
});

interface HeldRun {
  readonly since?: string | undefined;
  readonly cluster: number;
  readonly transaction: number | null;
}

interface KeptPlan {
  readonly text: string;
  /** For a new plan, in this order. */
  readonly commands: readonly [string, string];
}
