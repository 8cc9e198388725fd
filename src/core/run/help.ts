/** In the memo of each run: for whoever finds it in Temporal, not going on, and has nothing else at hand. */
export const RUN_HELP = "sitewright run status RUN; docs/reference/troubleshooting.md, 'A run that does not continue'";
