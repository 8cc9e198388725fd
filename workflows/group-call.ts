import { given } from '../src/core/data/given.ts';
import { finishNode, startNode } from '../src/core/deployment/index.ts';
import type { SitePlan } from '../src/core/site-run/index.ts';
import type { Call } from '../src/core/words.ts';
import type { CallListener } from './call.ts';
import type { CallRequest } from './contract.ts';
import type { SiteRun } from './site-operators.ts';

/** A call of the baremetal step for these nodes of a group. */
export function groupCall(
  { progress }: SiteRun,
  plan: SitePlan,
  verb: Call,
  group: string,
  nodes: readonly number[],
): CallRequest {
  const pace = plan.pace[verb];
  return {
    verb,
    group,
    site: plan.site,
    revision: plan.revision,
    run_id: progress.run_id,
    nodes: nodes.map((index) => {
      const { name, attempts, system_id } = progress.baremetal!.nodes[index]!;
      const attempt = attempts + (verb === 'prepare' ? 1 : 0);
      return { index, name, attempt, ...given({ system_id }) };
    }),
    interval: pace.interval,
    timeout: pace.timeout,
    max_parallel_nodes: plan.pace.max_parallel_nodes,
    heartbeat_seconds: plan.pace.heartbeat_seconds,
  };
}

/** Records the reports of a call of the baremetal step in the run's state. */
export const nodeListener = (run: SiteRun, call: Call): CallListener => ({
  started(index) {
    run.progress.baremetal = startNode(run.progress.baremetal!, index, Date.now());
    run.show();
  },
  finished(index, result) {
    run.progress.baremetal = finishNode(run.progress.baremetal!, index, call, result, Date.now());
    run.show();
  },
});
