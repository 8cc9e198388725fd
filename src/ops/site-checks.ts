import { keptResult, summaries } from '../core/checks/results.ts';
import type { CheckSummary, KeptResult } from '../core/contracts/checks.ts';
import { Service } from './service.ts';

/** So many results that are not well are listed of a check. */
const MOST_UNWELL = 100;
const USUAL = 50;

interface Wanted {
  readonly check?: string | undefined;
  readonly node?: string | undefined;
  readonly run?: string | undefined;
  readonly limit?: number | undefined;
}

/** What came of the checks of sites. */
export class SiteCheckOperations extends Service {
  /** By name. @throws `not-found` for the site */
  async list(site: string): Promise<CheckSummary[]> {
    const newest = await this.store.checkResults.list(site, { newest: true });
    return summaries(newest.map(keptResult), MOST_UNWELL);
  }
  /** Newest first. @throws `not-found` for the site */
  async results(site: string, { check, run, limit = USUAL, node }: Wanted): Promise<KeptResult[]> {
    const found = await this.store.checkResults.list(site, { name: check, node, runId: run, limit });
    return found.map(keptResult);
  }
}
