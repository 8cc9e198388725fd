import { InputCheck } from '../input.js';
import type { ClaimHolder } from '../ports/site-claim-store.js';

export const sameHolder = (one: ClaimHolder, other: ClaimHolder): boolean =>
  one.workflowId === other.workflowId && one.runId === other.runId;

/** The holder as it is stored. @throws StoreError of kind `invalid` */
export function checkedHolder(path: string, holder: ClaimHolder): ClaimHolder {
  const check = new InputCheck();
  const workflowId = check.key(`${path}workflowId`, holder.workflowId);
  const runId = check.key(`${path}runId`, holder.runId);
  check.done();
  return { workflowId, runId };
}
