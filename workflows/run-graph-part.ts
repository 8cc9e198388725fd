import {
  CancellationScope,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  isCancellation,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type ExecutablePart,
  type PartReport,
  reportPart,
  type TaskCounts,
  treeOfPart,
} from '../src/core/graph-run/index.js';
import type { FromPart } from '../src/core/scheduler/index.js';
import { createControl } from './control.js';
import { createPartDriver, loadPiece, type PartDriver, type PartOf } from './graph-part.js';
import { createCourier, type FromPartSignal, type ToPartSignal } from './graph-signals.js';
import { QUERIES, SIGNALS } from './protocol.js';
import type { TaskRun } from './task-agents.js';

export interface RunGraphPartInput extends PartOf, TaskRun {
  readonly chunks: number;
  readonly dry_run: boolean;
}

/** How often the parent hears of a part that has nothing to tell: rarer the longer it runs, for its history's sake. */
const NEWS_MS = 5_000;
const NEWS_SHARE = 0.1;

/** One part of a graph that is too big for one workflow. Started by `execute_graph` only. */
export async function run_graph_part(input: RunGraphPartInput): Promise<PartReport> {
  const control = createControl(() => undefined);
  const early: ToPartSignal[] = [];
  let driver: PartDriver | null = null;
  /** Messages that came, that the scheduler has taken in, and whether one of them wants an answer. */
  const came = { last: 0, wantsAnswer: false };
  let heard = 0;
  let owesAnswer = false;
  const take = (signal: ToPartSignal): void => {
    for (const message of signal.messages) {
      driver!.push({ type: 'told', message });
      came.last = Math.max(came.last, message.seq);
      const { retry, skip, pause, stop } = message;
      if ((retry ?? skip ?? pause ?? stop) !== undefined) came.wantsAnswer = true;
    }
  };
  setHandler(defineSignal<[ToPartSignal]>(SIGNALS.to_part), (signal) => {
    if (driver === null) early.push(signal);
    else take(signal);
  });
  setHandler(defineQuery(QUERIES.status), () => driver?.ledger.news() ?? null, {
    description: 'Counts of this part’s tasks, failing first.',
  });
  setHandler(defineQuery(QUERIES.tree), () => (driver === null ? [] : treeOfPart(driver.scheduler)), {
    description: 'The nodes of this part and their tasks.',
  });
  void CancellationScope.current().cancelRequested.catch(() => control.cancel());

  return CancellationScope.nonCancellable(async () => {
    const part = await loadPiece<ExecutablePart>(input.plan, input.part, input.chunks);
    const outgoing: FromPart[] = [];
    let ready: FromPartSignal['ready'];
    let seq = 0;
    let toldAt = Date.now();
    let told: Pick<TaskCounts, 'failed' | 'running' | 'waiting'> = { failed: 0, running: 0, waiting: -1 };
    const startedAt = Date.now();

    const { parent } = workflowInfo();
    const courier = createCourier<FromPartSignal>(
      () => {
        const { counts } = current.ledger;
        const now = Date.now();
        const stale = isNews() && now - toldAt >= newsEvery(now);
        if (outgoing.length === 0 && !ready && !owesAnswer && !stale && counts.failed <= told.failed) return null;
        const signal: FromPartSignal = {
          graph: input.graph,
          part: input.part,
          seq: ++seq,
          heard,
          ...(ready ? { ready } : {}),
          messages: outgoing.splice(0),
          news: current.ledger.news(),
        };
        ready = undefined;
        owesAnswer = false;
        toldAt = now;
        told = { ...counts };
        return signal;
      },
      async (signal) => {
        if (!parent) return;
        // A parent that has ended needs no news.
        await getExternalWorkflowHandle(parent.workflowId, parent.runId)
          .signal(SIGNALS.from_part, signal)
          .catch(() => undefined);
      },
    );
    const isNews = (): boolean => {
      const { failed, running, waiting } = current.ledger.counts;
      return failed !== told.failed || running !== told.running || waiting !== told.waiting;
    };
    const newsEvery = (now: number): number => Math.max(NEWS_MS, (now - startedAt) * NEWS_SHARE);

    const current = createPartDriver(part, input, { ...input, hold: false }, control, {
      heard(command) {
        if (command.type === 'tell') outgoing.push(command.message);
      },
      turned() {
        heard = came.last;
        owesAnswer ||= came.wantsAnswer;
        came.wantsAnswer = false;
        courier.send();
        const { counts } = current.ledger;
        setCurrentDetails(`${counts.successful} tasks successful, ${counts.failed} failed, ${counts.running} running`);
        return isNews() ? toldAt + newsEvery(Date.now()) : null;
      },
    });
    driver = current;
    ready = { offline: input.dry_run ? [] : await askNodes(current) };
    for (const signal of early.splice(0)) take(signal);
    await current.drive();
    await courier.drain();
    return reportPart(current.scheduler, current.ledger);
  });

  /** Silent nodes; none when the run is cancelled meanwhile, since nothing begins then. */
  async function askNodes(asked: PartDriver): Promise<readonly string[]> {
    try {
      return await control.interruptible(() => asked.agents.ask());
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return [];
    }
  }
}
