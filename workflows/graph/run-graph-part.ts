import {
  CancellationScope,
  isCancellation,
  log,
  makeContinueAsNewFunc,
  patched,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { given } from '../../src/core/data/given.ts';
import { type PartReport, reportPart } from '../../src/core/graph-run/part-report.ts';
import { treeOfPart } from '../../src/core/graph-run/tree.ts';
import { awaitingApproval } from '../../src/core/scheduler/operator.ts';
import type { FromPart } from '../../src/core/scheduler/part-messages.ts';
import { counted } from '../../src/core/text/text.ts';
import type { Exchange, KeptGraphPart, RunGraphPartInput, WorkflowContracts } from '../contract.ts';
import { assertStartedByRun, handle, probeHandler, signalById, signalParent } from '../run/border.ts';
import { Control } from '../run/control.ts';
import { maasSilenceHandler } from '../run/operators.ts';
import { type FromPartSignal, readToPart, type ToPartSignal } from './messages.ts';
import { Alarm, intervalOf, loadPart, PartDriver } from './part.ts';
import { createCourier } from './signals.ts';

/** Changed counts are reported less often the longer a part runs, to save history events. */
const REPORT_SHARE = 0.1;

/** The parent keeps the results of hundreds of parts. */
const LISTED_OF_MANY = 10;

/** Running agents answer sooner. */
const SILENT_SECONDS = 3;

/** One part of a graph that is too big for one workflow. Started by `execute_graph` only. */
export async function run_graph_part(input: RunGraphPartInput): Promise<PartReport> {
  assertStartedByRun();
  const control = new Control(() => undefined);
  const early: ToPartSignal[] = [];
  let driver: PartDriver | null = null;
  const exchange: Exchange = { ...(input.kept?.exchange ?? newExchange()) };
  const take = (signal: ToPartSignal): void => {
    for (const message of signal.messages) {
      const first = message.hello === true && patched('hello-comes-first');
      driver!.push({ type: 'received', message, by: signal.by, ...(first && { first }) });
    }
    // A cancelled run stops, too, and cancels its attempts itself.
    if (control.cancelled) return;
    if (signal.stop || signal.messages.some(({ stop }) => stop === 'user')) driver!.agents.stop();
    if (signal.stop) sayReady();
  };
  /** Once it is ready: says so again to a run that a reset has made forget it. */
  let sayReady = (): void => undefined;
  handle<WorkflowContracts['run_graph_part']>({
    signals: {
      ...maasSilenceHandler((silence) => {
        driver?.agents.maasSilence(silence.since);
        void signalParent('maas_silence', silence);
      }),
      ...probeHandler(),
      to_part: {
        read: readToPart,
        handle(signal) {
          if (driver === null) early.push(signal);
          else take(signal);
        },
      },
    },
    updates: {},
    queries: {
      status: {
        description: 'Counts of this part’s tasks, failing first.',
        answer: () => driver?.ledger.status() ?? null,
      },
      tree: {
        description: 'The nodes of this part and their tasks.',
        answer: () => (driver === null ? [] : treeOfPart(driver.scheduler)),
      },
    },
    warn: log.warn,
  });
  void CancellationScope.current().cancelRequested.catch(() => control.cancel());

  return CancellationScope.nonCancellable(async () => {
    const part = await loadPart(input.plan, input.part, input.chunks);
    const outgoing: FromPart[] = [];
    let asking = false;
    let ready: FromPartSignal['ready'];
    let continued = input.kept !== undefined;
    const awaiting = (): string[] => (input.hold_before === undefined ? [] : awaitingApproval(current.scheduler));
    let awaitingReported = '';
    let silentReported = '';
    let limitsReported = '';

    const courier = createCourier<FromPartSignal>(
      () => {
        if (input.alone) return null;
        const { counts } = current.ledger;
        const now = Date.now();
        const stale = hasChanged() && now - exchange.reportedAt >= reportEvery(now);
        const isDue = outgoing.length > 0 || ready || continued || stale || asking;
        const waiting = awaiting();
        const silent = current.ledger.silentNodes().join();
        const limits = current.waits.map(({ limit, machines }) => `${machines} ${limit}`).join();
        const isNews = waiting.join() !== awaitingReported || silent !== silentReported || limits !== limitsReported;
        if (!isDue && !isNews && counts.failed <= exchange.reported.failed) return null;
        awaitingReported = waiting.join();
        silentReported = silent;
        limitsReported = limits;
        const signal: FromPartSignal = {
          graph: input.graph,
          part: input.part,
          run: workflowInfo().firstExecutionRunId,
          by: { run: workflowInfo().runId, ...given({ after: workflowInfo().continuedFromExecutionRunId }) },
          seq: ++exchange.seq,
          ...(ready ? { ready } : {}),
          ...(continued ? { continued: true as const } : {}),
          messages: outgoing.splice(0),
          news: {
            ...current.status({ ...given({ offline: ready?.offline }), isAsking: asking }),
            ...(waiting.length === 0 ? {} : { awaiting: waiting }),
            ...(current.hasCapacityForRequest() ? {} : { full: true as const }),
          },
        };
        asking = false;
        ready = undefined;
        continued = false;
        exchange.reportedAt = now;
        exchange.reported = { ...counts };
        return signal;
      },
      (signal) =>
        input.coordinator === undefined
          ? signalParent('from_part', signal)
          : signalById(input.coordinator, 'from_part', signal),
    );
    const hasChanged = (): boolean => {
      const { failed, running, waiting } = current.ledger.counts;
      return (
        failed !== exchange.reported.failed ||
        running !== exchange.reported.running ||
        waiting !== exchange.reported.waiting
      );
    };
    const leastMs = intervalOf(part);
    const reportEvery = (now: number): number => Math.max(leastMs, (now - exchange.startedAt) * REPORT_SHARE);

    const current = new PartDriver(
      part,
      input,
      { ...input, hold: false },
      control,
      {
        canContinue: true,
        received(command) {
          if (command.type === 'send') outgoing.push(command.message);
        },
        turned() {
          courier.send();
          const { counts } = current.ledger;
          setCurrentDetails(
            `${counted(counts.success, 'task')} successful, ${counts.failed} failed, ${counts.running} running`,
          );
          // Nobody hears of one that is alone: a change would be due for ever.
          if (!hasChanged() || (input.alone && patched('alone-reports-nothing'))) return null;
          return exchange.reportedAt + reportEvery(Date.now());
        },
      },
      input.kept?.part,
    );
    driver = current;
    for (const signal of early.splice(0)) take(signal);
    if (input.kept === undefined) {
      const slow = new Alarm(() => {
        asking = true;
        courier.send();
      }, 'wait before reporting unreachable nodes');
      if (!input.dry_run)
        slow.set(Date.now() + 1000 * Math.min(SILENT_SECONDS, input.patience.offline_wait_seconds / 4));
      ready = { offline: input.dry_run ? [] : await askNodes(current) };
      slow.stop();
      if (input.alone) current.push({ type: 'begin', offline: ready.offline, now: Date.now() });
    }
    sayReady = () => {
      ready = { offline: [] };
      courier.send();
    };
    await current.drive();
    await courier.drain();
    if (current.continuesAsNew && !control.cancelled) {
      const kept: KeptGraphPart = { part: current.save(), exchange };
      // A new history: any later build may take it. Servers up to 1.29 keep it where it was.
      const toCurrentBuild = { initialVersioningBehavior: 'AUTO_UPGRADE' } as const;
      await makeContinueAsNewFunc<typeof run_graph_part>(toCurrentBuild)({ ...input, kept });
    }
    return reportPart(current.scheduler, current.ledger, input.coordinator === undefined ? 100 : LISTED_OF_MANY);
  });

  /** Nodes that do not answer. Empty when the run is cancelled meanwhile, because nothing starts then. */
  async function askNodes(asked: PartDriver): Promise<readonly string[]> {
    try {
      return await control.interruptible(() => asked.agents.ask(() => undefined));
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return [];
    }
  }
}

const newExchange = (): Exchange => ({
  seq: 0,
  reportedAt: Date.now(),
  reported: { failed: 0, running: 0, waiting: -1 },
  startedAt: Date.now(),
});
