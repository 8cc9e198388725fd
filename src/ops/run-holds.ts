import { allAtOnceStrategy, checkHolds, planGroups } from '../core/deployment/index.ts';
import type { SiteRunInput } from '../core/site-run/index.ts';
import { invalidInput } from './problem.ts';
import type { SiteOperations } from './sites.ts';

/** Refuses a wrong name in `hold_before` before the run starts; the run checks its names itself, too. @throws `invalid` */
export async function refuseUnknownHolds(
  sites: Pick<SiteOperations, 'documents'>,
  { site, hold_before }: SiteRunInput,
  revision: string,
): Promise<void> {
  if (hold_before === undefined) return;
  const { site: documents } = await sites.documents(site, revision);
  const groups = planGroups(documents.strategy ?? allAtOnceStrategy(), documents.nodes);
  const { problems } = checkHolds(hold_before, groups, []);
  if (problems.length > 0) throw invalidInput(problems);
}
