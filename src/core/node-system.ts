/** What the status of a node says about its operating system. */

/** Whether a node has the operating system of a deployment, complete or not: it can be deployed again. */
export const hasSystem = (node: { readonly status: string; readonly errorType: string | null }): boolean =>
  WITH_SYSTEM.includes(node.status) || (node.status === 'error' && node.errorType === 'deploy');

const WITH_SYSTEM: readonly string[] = ['ready', 'provisioned', 'deploying', 'stopped'];

/** Whether a node that gets this status has nothing any more of what tasks did on it before. */
export const isNewSystem = (status: string | undefined): boolean => status === 'provisioned' || status === 'discover';
