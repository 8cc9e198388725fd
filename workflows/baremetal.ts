import { createEventGroup, log } from '@temporalio/workflow';
import {
  type CallEnd,
  describeBaremetal,
  describeGroupFailure,
  endBaremetal,
  finishCall,
  finishNode,
  halts,
  type NextCall,
  nextCall,
  recordNodes,
  reportBaremetal,
  startBaremetal,
} from '../src/core/deployment/index.ts';
import { undecided } from '../src/core/run/index.ts';
import { fromRanges, groupFromWire, type SitePlan } from '../src/core/site-run/index.ts';
import { abortCall } from './activity-options.ts';
import { callActivity } from './border.ts';
import { lateResult, nodeRequest, runCall } from './call.ts';
import { NODES_IN_ONE_WORKFLOW } from './call-slices.ts';
import { groupCall, nodeListener } from './group-call.ts';
import { createRetries } from './node-retries.ts';
import type { NodeRetries, SiteRun } from './site-operators.ts';

/**
 * The baremetal step prepares and deploys one group after the other until none is left (docs/design.md#spec-5, "Process").
 * src/core/deployment decides the next step.
 */
export async function runBaremetal(run: SiteRun, plan: SitePlan): Promise<void> {
  await run.phase('baremetal', async () => {
    run.progress.baremetal = startBaremetal(plan.groups.map(groupFromWire), plan.nodes, fromRanges(plan.done));
    await run.record(recordNodes(state(run), fromRanges(plan.done)));
    const retries = createRetries(run, plan);
    run.retries = retries;
    for (;;) {
      const may = await run.control.mayStart();
      retries.take();
      if (!may) break;
      const next = nextCall(state(run), Date.now(), undecided(run.progress.holds));
      run.progress.baremetal = next.state;
      run.reached(next.waiting);
      if (next.call) await makeCall(run, plan, next.call, retries);
      else if (next.waiting.length > 0 || retries.underWay()) await run.control.changed();
      else if (!retries.pending()) break;
    }
    run.retries = null;
    await retries.ended();
    await recheckTimedOutNodes(run, plan);
    for (const line of describeBaremetal(reportBaremetal(endBaremetal(state(run)))))
      log.info(`${plan.site}, bare metal: ${line}`);
    const failed = state(run).groups.filter((group) => group.plan.critical && group.state === 'failed');
    if (run.control.cancelled || run.control.stopping) return { value: null, state: 'stopped' };
    if (!halts(state(run))) return { value: null };
    const groups = failed.map((group) => ({
      name: group.plan.name,
      reason: group.failure ? describeGroupFailure(group.failure) : 'failed',
    }));
    run.fail({ kind: 'critical-group-failed', groups });
    return {
      value: null,
      state: 'failed',
      detail: groups.map((group) => `${group.name}: ${group.reason}`).join('; '),
    };
  });
}

const state = (run: SiteRun) => run.progress.baremetal!;

async function makeCall(run: SiteRun, plan: SitePlan, next: NextCall, retries: NodeRetries): Promise<void> {
  const { progress, control, slices } = run;
  const request = groupCall(run, plan, next.call, next.name, next.nodes);
  const members = state(run).groups[next.group]!.plan.nodes;
  const finish = (end: CallEnd): void => {
    progress.baremetal = finishCall(state(run), end, Date.now());
    run.show();
  };
  // A group is judged with the nodes that are being retried.
  let complete: CallEnd | null = null;
  const announce = (end: CallEnd): void => {
    retries.settling = next.nodes;
    if (end.kind === 'complete' && retries.underWay(members)) complete = end;
    else finish(end);
  };
  run.show();
  const sliced = plan.nodes.length > NODES_IN_ONE_WORKFLOW;
  // Servers that know event groups show the events of a group together.
  await createEventGroup(`group ${next.name}`).withScope(() =>
    (sliced ? slices.run : runCall)(request, control, nodeListener(run, next.call), announce),
  );
  retries.settling = [];
  if (complete !== null) {
    await retries.ended(members);
    finish(complete);
  }
  await run.record(recordNodes(state(run), next.nodes));
}

/** A node may have finished after its timeout. Reads its final state and changes nothing (docs/design.md#deployment-groups). */
async function recheckTimedOutNodes(run: SiteRun, plan: SitePlan): Promise<void> {
  if (run.control.cancelled) return;
  const timedOut = state(run).nodes.flatMap((node, index) =>
    node.failure?.kind === 'timeout' && !node.late?.ok ? [{ node, index, call: node.failure.call }] : [],
  );
  await Promise.all(
    timedOut.map(async ({ node, index, call }) => {
      const options = abortCall(
        `look:${node.name}`,
        `check whether ${node.name} finished after its timeout`,
        plan.pace.heartbeat_seconds,
      );
      const request = nodeRequest(
        { site: plan.site, revision: plan.revision, run_id: run.progress.run_id, interval: plan.pace[call].interval },
        { ...node, attempt: node.attempts },
      );
      const answer = await run.control.readOnly(() => callActivity('look_at_node', request, options)).catch(() => null);
      const late = answer ? lateResult(call, answer) : null;
      if (late?.ok) run.progress.baremetal = finishNode(state(run), index, call, late, Date.now());
    }),
  );
  if (timedOut.length > 0)
    await run.record(
      recordNodes(
        state(run),
        timedOut.map(({ index }) => index),
      ),
    );
}
