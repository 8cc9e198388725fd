/** How a run of graphs ends. */
export const GRAPH_RUN_OUTCOMES = ['success', 'failed', 'stopped', 'cancelled'] as const;
/** How a run on a site ends: nodes may fail without failing the run. */
export const SITE_RUN_OUTCOMES = ['success', 'success_with_failures', 'failed', 'stopped', 'cancelled'] as const;

export type GraphRunOutcome = (typeof GRAPH_RUN_OUTCOMES)[number];
export type SiteRunOutcome = (typeof SITE_RUN_OUTCOMES)[number];
