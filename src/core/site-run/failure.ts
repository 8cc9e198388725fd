import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { text, texts, variant, whole } from '../data/schema.ts';
import { type Explained, explainCommon, invalidInput, listSome, lostClaim } from '../run/failure.ts';
import type { SiteRunKind } from '../words.ts';

/** Why a run failed. The `type` of the workflow's failure in Temporal is the kind in PascalCase. */
export const runFailure = z.discriminatedUnion('kind', [
  invalidInput,
  lostClaim,
  /** A setting is missing, or a service refuses for good. */
  variant('step-failed', { phase: text, type: text, message: text }),
  variant('site-busy', { site: text, workflow_id: text, run_id: text }),
  variant('site-not-found', { site: text }),
  /** The branch that the site follows could not be read, or has errors. */
  variant('source-failed', { site: text, message: text }),
  variant('revision-not-found', { site: text, revision: text }),
  variant('documents-invalid', { site: text, revision: whole, problems: texts }),
  /** `hold_before` names groups that do not exist. */
  variant('holds-not-found', { problems: texts }),
  /** Checks that the request names, and the documents do not have. */
  variant('checks-not-found', { problems: texts }),
  variant('nodes-not-found', { nodes: texts }),
  /** Nodes that the request names, each with what is said of it. */
  variant('nodes-in-maintenance', { nodes: z.array(z.object({ node: text, why: text })) }),
  /** `override_limits` of a run that no API has started: only that knows who has the right. */
  variant('override-refused', {}),
  variant('verify-site-failed', { problems: texts }),
  variant('prepare-site-failed', { problems: texts }),
  variant('release-failed', { nodes: texts }),
  /** The nodes are deployed, but their graph did not run to completion. The workflow `workflow_id` has the reasons. */
  variant('software-failed', { cluster: whole, workflow_id: text, message: text }),
  variant('critical-group-failed', { groups: z.array(z.object({ name: text, reason: text })) }),
]);
export type RunFailure = Wire<typeof runFailure>;

export function describeRunFailure(failure: RunFailure): string {
  switch (failure.kind) {
    case 'invalid-input':
    case 'claim-lost':
      return explainCommon(failure).reason;
    case 'site-busy':
      return `site ${failure.site} is busy with ${failure.workflow_id} (run ${failure.run_id}): one run per site at a time`;
    case 'site-not-found':
      return `there is no site ${failure.site}`;
    case 'source-failed':
      return `the documents of site ${failure.site} cannot be taken from its repository: ${failure.message}`;
    case 'revision-not-found':
      return `site ${failure.site} has no revision ${failure.revision}`;
    case 'documents-invalid':
      return `revision ${failure.revision} of site ${failure.site} is not valid: ${listSome(failure.problems, 5, '; ')}`;
    case 'nodes-not-found':
      return `not in the site's documents: ${failure.nodes.join(', ')}`;
    case 'nodes-in-maintenance':
      return failure.nodes.map(({ node, why }) => `${node} has been ${why}`).join('; ');
    case 'holds-not-found':
    case 'checks-not-found':
      return failure.problems.join('; ');
    case 'override-refused':
      return 'limits can be overridden only by a run that is started through the API, which checks the right to';
    case 'verify-site-failed':
      return `the site could not be verified: ${failure.problems.join('; ')}`;
    case 'prepare-site-failed':
      return `the site could not be prepared: ${failure.problems.join('; ')}`;
    case 'step-failed':
      return `${failure.phase}: ${failure.message}`;
    case 'release-failed':
      return `nothing was deployed because these nodes could not be released: ${listSome(failure.nodes, 20, ', ')}`;
    case 'software-failed':
      return `the nodes are deployed, but the software of cluster ${failure.cluster} is not: ${failure.message}`;
    case 'critical-group-failed':
      return `critical group failed: ${failure.groups.map((group) => `${group.name} (${group.reason})`).join('; ')}`;
  }
}

/** Context of a failure: the run's kind, its site, and for a redeployment the nodes still out of service. */
interface FailedRun {
  readonly kind: SiteRunKind;
  readonly site: string;
  readonly left: readonly string[];
}

/** Why a run failed, and the operator's next step. */
export const explainRunFailure = (failure: RunFailure, run: FailedRun): Explained => ({
  reason: describeRunFailure(failure),
  next_step: nextStep(failure, run),
});

function nextStep(failure: RunFailure, { kind, site, left }: FailedRun): string {
  const again = left.length === 0 ? 'start again' : `start again: ${redeployCommand(site, left)}`;
  switch (failure.kind) {
    case 'invalid-input':
    case 'claim-lost':
      return explainCommon(failure).next_step;
    case 'site-busy':
      return `wait for it, or stop it: temporal workflow signal --workflow-id ${failure.workflow_id} --name stop`;
    case 'source-failed':
      return `correct the repository, or the followed branch ('sitewright site follow ${site} URL'), then start again`;
    case 'site-not-found':
      return `create it with 'sitewright site create ${failure.site}', commit its documents, then start again`;
    case 'revision-not-found':
      return `choose one that 'sitewright site revisions ${failure.site}' lists, or commit the documents, then start again`;
    case 'documents-invalid':
      return `correct the documents and commit them: sitewright site commit ${site} FILES`;
    case 'nodes-not-found':
    case 'holds-not-found':
    case 'checks-not-found':
      return 'correct the names and start again';
    case 'override-refused':
      return `start it with 'sitewright site' and --override-limits REASON, or without override_limits`;
    case 'nodes-in-maintenance':
      return `end the maintenance, then start again: sitewright node maintenance off ${failure.nodes[0]!.node} --site ${site}`;
    case 'verify-site-failed':
    case 'prepare-site-failed':
    case 'step-failed':
      return `run 'sitewright doctor' and 'sitewright maas check', fix the problems they report, ${again}`;
    case 'software-failed':
      return `read the reasons: temporal workflow query --workflow-id ${failure.workflow_id} --type report; then execute the graph again`;
    case 'release-failed':
    case 'critical-group-failed':
      return left.length === 0
        ? `fix the named machines, then start ${kind} again: it continues where this run stopped`
        : `fix the named machines, then ${again}, which lists the nodes still out of service`;
  }
}

/** The command that redeploys the nodes, to be typed as it is. */
export function redeployCommand(site: string, nodes: readonly string[]): string {
  const more = nodes.length - MAX_NAMES;
  const rest = more > 0 ? ` and ${more} more that the report shows` : '';
  return `sitewright site redeploy ${site} ${nodes.slice(0, MAX_NAMES).join(' ')}${rest}`;
}

export const MAX_NAMES = 50;
