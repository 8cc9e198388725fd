// Commands that messages of several parts name as the next step, each as it is typed; a test gives each one to the parser
// of the command line. Capital letters stand for what only the reader knows.

/** For a caller without a token. */
export const CREATE_TOKEN = 'sitewright token create --name NAME --role operator';

/** For a node that has no ticket, or one that is used up. */
export const createTicket = (site: string, node: string): string =>
  `sitewright agent token --site ${site} --node ${node}`;

/** For a run of graphs that ended with failures; it knows its cluster. */
export const continueRun = (transaction: number | string | null): string =>
  `sitewright graph execute --from ${transaction ?? 'TRANSACTION'}`;

/** For a run that has ended: with what it was started. */
export const runAgain = (run: number | string): string => `sitewright run again ${run}`;

/** What each task of a run of graphs did. */
export const showTasks = (transaction: number | string | null): string =>
  `sitewright history show ${transaction ?? 'TRANSACTION'}`;

export const watchRun = (run: number | string): string => `sitewright run watch ${run}`;
export const statusOfRun = (run: number | string): string => `sitewright run status ${run}`;
export const reportOfRun = (run: number | string): string => `sitewright run report ${run}`;
