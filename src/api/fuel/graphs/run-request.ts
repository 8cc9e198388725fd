import type { executionRoutes } from '../../../core/contracts/fuel/deployments.ts';
import type { PartOf } from '../../../core/contracts/route.ts';
import type { GraphRunInput, OwnRollouts } from '../../../core/graph-run/input.ts';
import type { GraphRunMode } from '../../../core/words.ts';
import type { DeploymentOptions } from '../../../ops/index.ts';
import { RequestError } from '../../problems/transport-problem.ts';
import { actorOf } from '../../requests/actor.ts';
import { given } from '../../requests/given.ts';
import { requireRole } from '../../requests/require-role.ts';

type Routes = typeof executionRoutes;

export type Caller = Parameters<typeof actorOf>[0];

type Flags = Omit<PartOf<Routes['POST /sequences/:id/execute/'], 'body'>, 'cluster'>;

type Body = Omit<PartOf<Routes['POST /graphs/execute/'], 'body'>, 'cluster'>;

/** Whether a request names neither graphs nor a sequence nor an earlier run. */
export const choosesNothing = ({ graphs, sequence, from }: Body): boolean =>
  graphs === undefined && sequence === undefined && from === undefined;

/** What a run of graphs is asked to do, by the body that starts it, or rehearses it. @throws RequestError */
export function runRequestOf(request: Caller, body: Body): Omit<GraphRunInput, 'cluster'> {
  const { graphs, sequence, from, subgraphs, max_nodes, hold_on_failure, hold_before, ...flags } = body;
  return given({
    graphs,
    sequence,
    from,
    subgraphs: subgraphs === undefined || subgraphs.length === 0 ? undefined : subgraphs.map(subgraph),
    max_nodes,
    hold_on_failure,
    hold_before,
    ...optionsOf(request, flags),
  });
}

/** How a run of graphs is made: by Fuel's flags. @throws RequestError for flags that exclude each other */
export function optionsOf(request: Caller, flags: Flags): DeploymentOptions {
  const { dry_run, noop_run, force, debug, started_by, rollouts, ...said } = flags;
  if (said.override_limits !== undefined) requireRole(request, 'admin');
  if (dry_run && noop_run) throw refused('dry_run and noop_run exclude each other', 'Choose one of them.');
  const mode: GraphRunMode | undefined = dry_run ? 'dry_run' : noop_run ? 'noop_run' : undefined;
  return given({
    mode,
    force: force || undefined,
    debug: debug || undefined,
    started_by: actorOf(request, started_by),
    // Its schema is stricter than what it gives.
    rollouts: rollouts as OwnRollouts | undefined,
    ...said,
  });
}

type Side = readonly (string | null)[] | undefined;

/** Clients write null for a side that is open. */
function subgraph(asked: { readonly start?: Side; readonly end?: Side }) {
  const named = (side: Side) => {
    const names = (side ?? []).filter((one) => one !== null);
    return names.length === 0 ? undefined : names;
  };
  const read = given({ start: named(asked.start), end: named(asked.end) });
  if (read.start !== undefined || read.end !== undefined) return read;
  throw refused('a subgraph names neither start nor end', 'Write {"start": ["netconfig/1,3-5"]}, or leave it out.');
}

export const refused = (message: string, hint: string) => new RequestError({ code: 'invalid', message, hint });
