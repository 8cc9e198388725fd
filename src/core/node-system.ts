/** What the fields of a node say about its operating system and its membership. */
import { stateWord } from './state-word.ts';
import { compareText } from './text/text.ts';

/** Whether a node has the operating system of a deployment, complete or not: it can be deployed again. */
export const hasSystem = (node: { readonly status: string; readonly errorType: string | null }): boolean =>
  WITH_SYSTEM.includes(node.status) || (node.status === 'error' && node.errorType === 'deploy');

const WITH_SYSTEM: readonly string[] = ['ready', 'provisioned', 'deploying', 'stopped'];

/** Whether a node that gets this status has nothing any more of what tasks did on it before. */
export const isNewSystem = (status: string | undefined): boolean => status === 'provisioned' || status === 'discover';

/** Why a machine of a site does not serve, the worst first. */
export const OUT_OF_SERVICE = ['failed', 'bare', 'never_deployed'] as const;
export type OutOfService = (typeof OUT_OF_SERVICE)[number];

/** Null: it serves, or is about to. `bare`: a run released it and did not deploy it again; the message of the node says why. */
export function outOfServiceOf({
  status,
  site,
  errorMsg,
}: {
  readonly status: string;
  readonly site: string | null;
  readonly errorMsg: string | null;
}): OutOfService | null {
  if (status === 'error') return 'failed';
  if (status !== 'discover') return null;
  if (errorMsg) return 'bare';
  return site === null ? null : 'never_deployed';
}

/** Machines out of service, the first of them by name. */
export interface OutOfServiceNodes {
  readonly state: OutOfService;
  readonly count: number;
  readonly nodes: readonly string[];
}

/** So many are named. */
const NAMED = 12;

export const outOfServiceNodes = (state: OutOfService, names: readonly string[]): readonly OutOfServiceNodes[] =>
  names.length === 0 ? [] : [{ state, count: names.length, nodes: [...names].sort(compareText).slice(0, NAMED) }];

export const outOfServiceText = ({ state, count, nodes }: OutOfServiceNodes): string =>
  `${count} ${stateWord(state)}: ${nodes.join(', ')}${count > nodes.length ? ` and ${count - nodes.length} more` : ''}`;

/** A node's status as people are shown it. Fuel has no words for what is out of service but those of a machine that was just found. */
export const shownStatus = (node: {
  readonly status: string;
  readonly site: string | null;
  readonly error_msg: string | null;
}): string => (node.status === 'discover' && outOfServiceOf({ ...node, errorMsg: node.error_msg })) || node.status;

/** What is pending for a node of a cluster, in words; null for nothing. */
export const pendingText = (node: {
  readonly pending_addition?: boolean;
  readonly pending_deletion?: boolean;
}): string | null =>
  node.pending_deletion === true ? 'removal pending' : node.pending_addition === true ? 'addition pending' : null;

/** The state in MAAS of a machine out of service: its `ready` alone would look like a machine in service. */
export const statusWithHealth = (health: OutOfService, inMaas: string | null): string =>
  inMaas === null ? stateWord(health) : `${stateWord(health)} (${inMaas} in MAAS)`;

/** What a list says below itself of a machine out of service; undefined for one that was never deployed. */
export const healthNote = (
  name: string,
  health: OutOfService,
  reason: string | null | undefined,
): string | undefined => (reason ? `${name} ${health === 'failed' ? 'has failed' : 'is bare'}. ${reason}` : undefined);
