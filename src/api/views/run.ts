import { nodeHistoryPageSchema, runNodeSchema } from '../../core/contracts/node-in-run.js';
import { runPageSchema, runSchema } from '../../core/contracts/run.js';
import { auditPageSchema } from '../../core/contracts/service.js';
import { shown } from '../shown.js';

export const viewRun = shown(runSchema);
export const viewRunPage = shown(runPageSchema);
export const viewRunNode = shown(runNodeSchema);
export const viewNodeHistoryPage = shown(nodeHistoryPageSchema);
export const viewAuditPage = shown(auditPageSchema);
