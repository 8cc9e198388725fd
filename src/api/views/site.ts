import type { RevisionRecord, SiteRecord } from '../../store/index.js';
import type { RevisionAnswer, SiteAnswer } from '../schemas/index.js';

/** A site as the API shows it. */
export const viewSite = (site: SiteRecord): SiteAnswer => ({
  name: site.name,
  cluster: site.cluster,
  created_at: site.createdAt,
  latest_revision: site.latestRevision,
  last_good_revision: site.lastGoodRevision,
});

/** A revision, without its files, as the API shows it. */
export const viewRevision = (revision: RevisionRecord): RevisionAnswer => ({
  site: revision.site,
  number: revision.number,
  hash: revision.hash,
  forced: revision.forced,
  diagnostics: revision.diagnostics,
  author: revision.author,
  message: revision.message,
  created_at: revision.createdAt,
  file_count: revision.fileCount,
  size: revision.size,
  last_good: revision.lastGood,
});
