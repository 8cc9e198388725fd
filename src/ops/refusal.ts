import type { GraphRunFailure } from '../core/graph-run/failure.ts';
import type { Explained, RequestRefused } from '../core/run/failure.ts';
import { numberOf } from '../core/run/subject.ts';
import type { RunFailure } from '../core/site-run/failure.ts';
import { metadataClient } from '../platform/temporal/metadata-client.ts';
import { StoreError } from '../store/index.ts';
import type { OpsDependencies } from './dependencies.ts';
import { invalidInput, type Problem, type ProblemError, problem } from './problem.ts';
import { callTemporal } from './temporal-calls.ts';
import { ifReachable } from './without-store.ts';

/**
 * Why a run was refused, as the error to throw.
 *
 * @param explained the failure in words
 * @param cluster which the run is for
 */
export async function refusalOf(
  deps: OpsDependencies,
  failure: RunFailure | GraphRunFailure,
  { reason, next_step: hint }: Explained,
  cluster?: number,
): Promise<ProblemError> {
  switch (failure.kind) {
    case 'invalid-input':
    case 'holds-not-found':
    case 'checks-not-found':
      return invalidInput(failure.problems);
    case 'request-refused':
      return requestProblem(failure);
    case 'site-busy':
      return await siteBusy(deps, failure.site, { id: failure.run_id, workflow_id: failure.workflow_id });
    case 'cluster-busy': {
      const run = { id: failure.run_id, workflow_id: failure.holder };
      // Fuel's words first, for programs that look for them.
      return problem(
        'conflict',
        ...(await busy(deps, run, () => `Deployment already started: ${failure.message}`, cluster)),
      );
    }
    case 'cluster-not-found':
      return problem('not-found', 'Cluster not found', { hint: `${reason}. ${hint}.` });
    case 'site-not-found':
    case 'revision-not-found':
      return problem('not-found', reason, { hint });
    default:
      return problem('refused', reason, { hint });
  }
}

export const requestProblem = ({ code, message, hint, errors }: RequestRefused): ProblemError =>
  problem(code, message, { hint, errors });

/** The store's refusal to remove a site that a run holds, with the state of that run; any other error as it is. */
export async function busyProblem(deps: OpsDependencies, site: string, error: unknown): Promise<unknown> {
  const holder = error instanceof StoreError && error.failure.kind === 'conflict' ? error.failure.holder : undefined;
  if (holder === undefined) return error;
  const run = { id: holder.runId, workflow_id: holder.workflowId };
  // Without Temporal, only the store's words are known.
  return await siteBusy(deps, site, run).catch(() => error);
}

/** The refusal of a start while this run has the site. */
export const siteBusy = async (
  deps: OpsDependencies,
  site: string,
  run: NonNullable<Problem['run']>,
): Promise<ProblemError> =>
  problem(
    'site-busy',
    ...(await busy(deps, run, (number) => `site ${site} is busy with ${run.workflow_id} (run ${number})`)),
  );

/** As people call it; the id of one that no worker has opened, or without the store. */
const calledBy = ({ store }: OpsDependencies, { id }: NonNullable<Problem['run']>): Promise<string> =>
  ifReachable(async () => numberOf(await store.runs.get(id))).then(
    (number) => number ?? id,
    () => id,
  );

/** Message and next step for a run that is in the way, of this cluster or of a site. */
async function busy(
  deps: OpsDependencies,
  run: NonNullable<Problem['run']>,
  messageOf: (number: string) => string,
  cluster?: number,
): Promise<readonly [string, Pick<Problem, 'run'> & { readonly hint: string }]> {
  const { temporal } = deps;
  const number = await calledBy(deps, run);
  const { raw } = await callTemporal(temporal, () =>
    metadataClient(temporal.client).getHandle(run.workflow_id, run.id).describe(),
  );
  const isEnding = raw.workflowExtendedInfo?.cancelRequested === true;
  const state = isEnding
    ? ', which is being cancelled: it ends once its machines are aborted'
    : `: one run per ${cluster === undefined ? 'site' : 'cluster'} at a time`;
  const stop =
    cluster === undefined
      ? `sitewright run stop ${number}`
      : `'sitewright cluster stop ${cluster}', or 'fuel2 env stop-deployment ${cluster}'`;
  const next = isEnding ? 'Then start again' : `Stop it: ${stop}`;
  return [`${messageOf(number)}${state}`, { hint: `Watch it: sitewright run show ${number} --watch. ${next}`, run }];
}
