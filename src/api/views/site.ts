import { revisionPageSchema, revisionSchema } from '../../core/contracts/revision.js';
import { siteSchema } from '../../core/contracts/site.js';
import { shown } from '../shown.js';

export const viewSite = shown(siteSchema);
export const viewRevision = shown(revisionSchema);
export const viewRevisionPage = shown(revisionPageSchema);
