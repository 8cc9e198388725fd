/** What the fields of a node say about its operating system and its membership. */

/** Whether a node has the operating system of a deployment, complete or not: it can be deployed again. */
export const hasSystem = (node: { readonly status: string; readonly errorType: string | null }): boolean =>
  WITH_SYSTEM.includes(node.status) || (node.status === 'error' && node.errorType === 'deploy');

const WITH_SYSTEM: readonly string[] = ['ready', 'provisioned', 'deploying', 'stopped'];

/** Whether a node that gets this status has nothing any more of what tasks did on it before. */
export const isNewSystem = (status: string | undefined): boolean => status === 'provisioned' || status === 'discover';

/**
 * The status of a node as people are shown it: one that a run released and did not deploy again is `bare`, and its message says
 * why. Fuel has no word for it but that of a machine that was just found.
 */
export const shownStatus = (node: { readonly status: string; readonly error_msg: string | null }): string =>
  isLeftBare(node) ? 'bare' : node.status;

/** What is pending for a node of a cluster, in words; null for nothing. */
export const pendingText = (node: {
  readonly pending_addition?: boolean;
  readonly pending_deletion?: boolean;
}): string | null =>
  node.pending_deletion === true ? 'removal pending' : node.pending_addition === true ? 'addition pending' : null;

export const isLeftBare = (node: { readonly status: string; readonly error_msg: string | null }): boolean =>
  node.status === 'discover' && Boolean(node.error_msg);

/** The state in MAAS of a machine that a run left bare, where `ready` would look like a machine in service. */
export const bareStatus = (inMaas: string | null): string => (inMaas === null ? 'bare' : `bare (${inMaas} in MAAS)`);
