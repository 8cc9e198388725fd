import { CancellationScope, createEventGroup } from '@temporalio/workflow';
import {
  deployRetried,
  endRetry,
  finishRetriedCall,
  mayDeployRetried,
  recordNodes,
  retryNode,
  startRetry,
} from '../src/core/deployment/index.ts';
import type { SitePlan } from '../src/core/site-run/index.ts';
import type { Call } from '../src/core/words.ts';
import { runCall } from './call.ts';
import { groupCall, nodeListener } from './group-call.ts';
import type { NodeRetries, SiteRun } from './site-operators.ts';

/** Later retries of a run wait for the next calls of their groups. Keeps the history bounded: a retry costs up to 40 events. */
const MAX_BESIDE_CALLS = 100;

export function createRetries(run: SiteRun, plan: SitePlan): NodeRetries {
  const { progress, control } = run;
  const requested: string[] = [];
  const open = new Set<number>();
  const limit = Math.max(1, plan.pace.max_parallel_nodes);
  let started = 0;
  let awaitsResume = false;
  let error: unknown = null;

  const state = () => progress.baremetal!;
  const atOnce = (): boolean => started < MAX_BESIDE_CALLS;

  const startWhatCan = (): void => {
    for (const node of requested.splice(0)) {
      const index = state().nodes.findIndex(({ name }) => name === node);
      const free = open.size < limit && !retries.settling.includes(index);
      const may = !control.paused && !control.stopping && !control.cancelled;
      // A request runs in the scope of the workflow, whose cancellation would also end the abort at MAAS.
      if (free && may && atOnce()) void CancellationScope.nonCancellable(() => begin(node, index));
      else requested.push(node);
    }
    if (requested.length > 0 && control.paused) startWhenResumed();
  };

  const startWhenResumed = (): void => {
    if (awaitsResume) return;
    awaitsResume = true;
    void control.mayStart().then(() => {
      awaitsResume = false;
      startWhatCan();
    });
  };

  const begin = async (node: string, index: number): Promise<void> => {
    started += 1;
    open.add(index);
    try {
      progress.baremetal = startRetry(state(), node);
      await createEventGroup(`retry of ${node}`).withScope(async () => {
        await call(index, 'prepare');
        if (!mayDeployRetried(state(), index) || !(await control.mayStart())) return;
        progress.baremetal = deployRetried(state(), index);
        await call(index, 'deploy');
      });
      progress.baremetal = endRetry(state(), index);
      await run.record(recordNodes(state(), [index]));
    } catch (thrown) {
      error ??= thrown;
      progress.baremetal = endRetry(state(), index);
    }
    open.delete(index);
    run.show();
    startWhatCan();
    control.wake();
  };

  /** The store has the node as failed, or as prepared: it is recorded that it is at work again. */
  const call = async (index: number, verb: Call): Promise<void> => {
    const group = state().groups[state().nodes[index]!.retrying!.group]!.plan.name;
    const made = runCall(groupCall(run, plan, verb, group, [index]), control, nodeListener(run, verb), (end) => {
      progress.baremetal = finishRetriedCall(state(), index, end, Date.now());
      run.show();
    });
    run.show();
    await Promise.all([made, run.record(recordNodes(state(), [index]))]);
  };

  const retries: NodeRetries = {
    settling: [],
    request(node) {
      requested.push(node);
      startWhatCan();
    },
    take() {
      if (error !== null) throw error;
      startWhatCan();
      if (requested.length > 0 && !atOnce()) {
        for (const node of requested.splice(0)) progress.baremetal = retryNode(state(), node);
      }
    },
    pending: (node) => (node === undefined ? requested.length > 0 : requested.includes(node)),
    underWay: (nodes) => (nodes === undefined ? open.size > 0 : nodes.some((node) => open.has(node))),
    async ended(nodes) {
      while (retries.underWay(nodes)) await control.changed();
      if (error !== null) throw error;
    },
  };
  return retries;
}
