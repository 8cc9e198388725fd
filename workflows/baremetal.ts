import { createEventGroup } from '@temporalio/workflow';
import {
  type CallEnd,
  describeGroupFailure,
  finishCall,
  finishNode,
  halts,
  type NextCall,
  nextCall,
  reportNodes,
  retryNode,
  startBaremetal,
  startNode,
} from '../src/core/deployment/index.js';
import { undecided } from '../src/core/run/index.js';
import { fromRanges, groupFromWire, type SitePlan } from '../src/core/site-run/index.js';
import { abortCall } from './activity-options.js';
import { callActivity } from './border.js';
import { type CallListener, type CallRequest, lateResult, nodeRequest, runCall } from './call.js';
import { NODES_IN_ONE_WORKFLOW } from './call-slices.js';
import type { SiteRun } from './site-run.js';

/**
 * The baremetal step prepares and deploys one group after the other until none is left (spec/5, "Process").
 * src/core/deployment decides what to do next.
 */
export async function runBaremetal(run: SiteRun, plan: SitePlan): Promise<void> {
  await run.phase('baremetal', async () => {
    run.progress.baremetal = startBaremetal(plan.groups.map(groupFromWire), plan.nodes, fromRanges(plan.done));
    await run.record(reportNodes(state(run), fromRanges(plan.done)));
    run.retries = [];
    for (;;) {
      const may = await run.control.mayStart();
      takeRetries(run);
      if (!may) break;
      const next = nextCall(state(run), Date.now(), undecided(run.progress.holds));
      run.progress.baremetal = next.state;
      run.reached(next.waiting);
      if (next.call) await makeCall(run, plan, next.call);
      else if (next.waiting.length > 0) await run.control.changed();
      else if (run.retries.length === 0) break;
    }
    run.retries = null;
    await recheckTimedOutNodes(run, plan);
    const failed = state(run).groups.filter((group) => group.plan.critical && group.state === 'failure');
    if (run.control.cancelled || run.control.stopping) return { value: null, state: 'stopped' };
    if (!halts(state(run))) return { value: null };
    const groups = failed.map((group) => ({
      name: group.plan.name,
      reason: group.failure ? describeGroupFailure(group.failure) : 'failed',
    }));
    run.fail({ kind: 'critical-group-failed', groups });
    return {
      value: null,
      state: 'failure',
      detail: groups.map((group) => `${group.name}: ${group.reason}`).join('; '),
    };
  });
}

function state(run: SiteRun) {
  return run.progress.baremetal!;
}

function takeRetries(run: SiteRun): void {
  for (const node of run.retries?.splice(0) ?? []) run.progress.baremetal = retryNode(state(run), node);
}

async function makeCall(run: SiteRun, plan: SitePlan, next: NextCall): Promise<void> {
  const { progress, control, slices } = run;
  const pace = plan.pace[next.call];
  const request: CallRequest = {
    verb: next.call,
    group: next.name,
    site: plan.site,
    revision: plan.revision,
    run_id: progress.run_id,
    nodes: next.nodes.map((index) => {
      const node = state(run).nodes[index]!;
      const attempt = node.attempts + (next.call === 'prepare' ? 1 : 0);
      return {
        index,
        name: node.name,
        attempt,
        ...(node.system_id === undefined ? {} : { system_id: node.system_id }),
      };
    }),
    interval: pace.interval,
    timeout: pace.timeout,
    max_parallel_nodes: plan.pace.max_parallel_nodes,
    heartbeat_seconds: plan.pace.heartbeat_seconds,
  };
  const listener: CallListener = {
    started(index) {
      progress.baremetal = startNode(state(run), index, Date.now());
      run.show();
    },
    finished(index, result) {
      progress.baremetal = finishNode(state(run), index, next.call, result, Date.now());
      run.show();
    },
  };
  const announce = (end: CallEnd): void => {
    progress.baremetal = finishCall(state(run), end, Date.now());
    run.show();
  };
  run.show();
  const sliced = plan.nodes.length > NODES_IN_ONE_WORKFLOW;
  // Servers that know event groups show the events of a group together.
  await createEventGroup(`group ${next.name}`).withScope(() =>
    sliced ? slices.run(request, control, listener, announce) : runCall(request, control, listener, announce),
  );
  await run.record(reportNodes(state(run), next.nodes));
}

/** A node may have finished after its timeout. Reads its final state and changes nothing (design §8.5). */
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
      const answer = await run.control
        .readOnlyToo(() => callActivity('look_at_node', request, options))
        .catch(() => null);
      const late = answer ? lateResult(call, answer) : null;
      if (late?.ok) run.progress.baremetal = finishNode(state(run), index, call, late, Date.now());
    }),
  );
  if (timedOut.length > 0)
    await run.record(
      reportNodes(
        state(run),
        timedOut.map(({ index }) => index),
      ),
    );
}
