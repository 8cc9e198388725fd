import type { Call } from '../words.ts';
import { type CriterionVerdict, describeVerdict } from './criteria.ts';

/** Why a group failed. A group keeps only the first reason, because later ones follow from it. */
export type GroupFailure =
  | { readonly kind: 'criteria'; readonly call: Call; readonly verdicts: readonly CriterionVerdict[] }
  | {
      readonly kind: 'timeout';
      readonly call: Call;
      readonly after_seconds?: number;
      readonly nodes: readonly string[];
    }
  /** `dependencies` are the failed groups it depends on; `root` the groups that caused the failure. */
  | { readonly kind: 'dependency'; readonly dependencies: readonly string[]; readonly root: readonly string[] }
  /** An operator ended its rollout. */
  | { readonly kind: 'rollout-aborted' }
  | { readonly kind: 'stopped'; readonly call: Call }
  | { readonly kind: 'cancelled'; readonly call: Call };

/** Why a node failed: the call, the kind of failure, and the service's message. */
export interface NodeFailure {
  readonly call: Call;
  /** `timeout`, `cancelled`, or the kind of failure that the machine's driver reported. */
  readonly kind: string;
  readonly message: string;
  readonly hint?: string;
}

/** Kind of failure of a node whose call was cut short while a change was on its way to MAAS, which may still do it. */
export const IN_FLIGHT = 'in-flight';

/** Kind of failure of a node that was well at the end of its deployment, and no longer after the soak of its wave. */
export const NOT_WELL = 'not-well';

/** Kinds of failure of a node that was deployed well, and for which a check of its rollout was not well, or had no answer. */
export const CHECK_FAILED = 'check-failed';
export const CHECK_UNANSWERED = 'check-unanswered';

/** The end of a sentence on a node without a result in time. */
export const lastAttempt = (error: string | undefined): string =>
  error === undefined ? '' : `; the last attempt failed: ${error}`;

export function describeGroupFailure(failure: GroupFailure): string {
  switch (failure.kind) {
    case 'criteria': {
      const unmet = failure.verdicts.filter((verdict) => !verdict.met).map(describeVerdict);
      return `after ${failure.call}: ${unmet.join('; ')}`;
    }
    case 'timeout': {
      const limit = failure.after_seconds === undefined ? '' : ` after ${failure.after_seconds} s`;
      return `${failure.call} timed out${limit}, no result from ${failure.nodes.join(', ') || 'any node'}`;
    }
    case 'dependency': {
      const root = failure.root.filter((name) => !failure.dependencies.includes(name));
      const because = root.length > 0 ? ` (because of ${root.join(', ')})` : '';
      return `failed because it depends on ${failure.dependencies.join(', ')}${because}`;
    }
    case 'rollout-aborted':
      return 'its rollout was aborted';
    case 'stopped':
      return `the run was stopped during ${failure.call}`;
    case 'cancelled':
      return `the run was cancelled during ${failure.call}`;
  }
}
