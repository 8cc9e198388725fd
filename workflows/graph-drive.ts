import { isCancellation, workflowInfo } from '@temporalio/workflow';
import {
  type GraphProgress,
  hasRoomForRequest,
  mergeReports,
  type PartReport,
  type PlanReference,
  reportPart,
  sumCounts,
  treeOfPart,
} from '../src/core/graph-run/index.js';
import type { Rejection, RunResult } from '../src/core/scheduler/index.js';
import type { Control } from './control.js';
import { createPartDriver, loadPart } from './graph-part.js';
import { createPartsDriver } from './graph-parts.js';
import type { FromPartSignal } from './graph-signals.js';
import type { TaskRun } from './task-agents.js';

/** What operators ask of single tasks. */
export type TaskUpdate = 'retry_task' | 'skip_task';

/** A graph under way, as operators reach it. */
export interface GraphDrive {
  onSignal(signal: FromPartSignal): void;
  /** Why the request makes no sense, as far as this workflow knows; asked before it is accepted. */
  objection(request: TaskUpdate, task: string): Rejection | null;
  ask(request: TaskUpdate, task: string): Promise<Rejection | null>;
  /** Whether every history has room for a further request beside what is left to do. */
  hasRoom(): boolean;
  /** Resolves when what operators said about the whole run holds everywhere. */
  acknowledged(): Promise<void>;
  /** `undefined`: cut short by a cancellation. */
  run(): Promise<{ readonly result: RunResult | undefined; readonly report: PartReport }>;
}

export interface GraphDriveOptions {
  readonly transaction: number;
  readonly plan: PlanReference;
  readonly tasks: TaskRun;
  readonly hold: boolean;
  /** Most events of one history, where it is not the usual number. */
  readonly most_events?: number;
  readonly control: Control;
  /** After each turn. */
  show(): void;
}

/** Drives a planned graph: here when it is one part, else by a child workflow a part. Keeps `graph` up to date. */
export async function driveGraph(graph: GraphProgress, options: GraphDriveOptions): Promise<GraphDrive> {
  return options.plan.coordination === null
    ? driveHere(graph, options)
    : driveInParts(graph, options, options.plan.coordination.chunks);
}

async function driveHere(graph: GraphProgress, options: GraphDriveOptions): Promise<GraphDrive> {
  const { plan, control, hold, tasks } = options;
  const limit = limitOf(options);
  const part = await loadPart(plan.hash, 0, plan.parts[0]!.chunks);
  const of = { transaction: options.transaction, graph: graph.transaction, part: 0 };
  const driver = createPartDriver(part, of, { ...tasks, ...limit, hold }, control, {
    received: () => undefined,
    turned() {
      const { failed } = driver.ledger.counts;
      const held = hold && driver.scheduler.begun && driver.running === 0 && failed > 0 && control.paused === null;
      if (driver.scheduler.begun) graph.state = held ? 'held' : 'running';
      options.show();
      return null;
    },
  });
  graph.news = () => [driver.ledger.news()];
  graph.trees = () => [treeOfPart(driver.scheduler)];
  return {
    onSignal: () => undefined,
    objection: (type, task) => driver.objection({ type, task }),
    async ask(type, task) {
      driver.push({ type, task });
      return null;
    },
    hasRoom: () => driver.hasRoomForRequest(),
    acknowledged: async () => undefined,
    async run() {
      if (plan.mode !== 'dry_run') {
        graph.state = 'asking_nodes';
        options.show();
        graph.offline = await control.interruptible(() => driver.agents.ask()).catch(noneIfCancelled);
      }
      driver.push({ type: 'begin', offline: graph.offline, now: Date.now() });
      const result = await driver.drive();
      return { result: control.cancelled ? undefined : result, report: reportPart(driver.scheduler, driver.ledger) };
    },
  };
}

async function driveInParts(graph: GraphProgress, options: GraphDriveOptions, chunks: number): Promise<GraphDrive> {
  const { plan, control, hold, tasks } = options;
  const driver = createPartsDriver(
    {
      input: {
        ...tasks,
        ...limitOf(options),
        transaction: options.transaction,
        dry_run: plan.mode === 'dry_run',
      },
      type: graph.type,
      parts: plan.parts,
      coordinationChunks: chunks,
      hold,
    },
    control,
    () => {
      graph.offline = driver.offline;
      graph.state = !driver.begun ? 'asking_nodes' : driver.held ? 'held' : 'running';
      options.show();
    },
  );
  graph.news = () => driver.news();
  graph.trees = () =>
    driver.workflowIds().map((workflow_id, part) => ({ workflow_id, counts: driver.news()[part]!.counts }));
  return {
    onSignal: (signal) => driver.onSignal(signal),
    objection() {
      if (!driver.begun) return { reason: 'not_begun' };
      return control.stopping || control.cancelled ? { reason: 'stopped' } : null;
    },
    ask: driver.ask,
    // What concerns the whole run is sent to each of them.
    hasRoom: () =>
      hasRoomForRequest(workflowInfo().historyLength, 0, options.most_events) &&
      driver.news().every(({ full }) => full !== true),
    acknowledged: () => driver.acknowledged(),
    async run() {
      const { result, reports } = await driver.drive();
      const report = mergeReports(reports, sumCounts(driver.news().map((part) => part.counts)));
      return { result: control.cancelled ? undefined : result, report };
    },
  };
}

const limitOf = ({ most_events }: GraphDriveOptions) => (most_events === undefined ? {} : { most_events });

function noneIfCancelled(error: unknown): string[] {
  if (!isCancellation(error)) throw error;
  return [];
}
