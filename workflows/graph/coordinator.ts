import type { PartStatus } from '../../src/core/graph-run/part-status.ts';
import type { PlanReference } from '../../src/core/graph-run/plan-reference.ts';
import { plannedCounts } from '../../src/core/graph-run/status.ts';
import {
  type CoordinatorCommand,
  type CoordinatorEvent,
  coordinate,
  createCoordinator,
  isQuiet,
  processedBy,
} from '../../src/core/scheduler/coordinator.ts';
import { keepCoordinator, restoreCoordinator } from '../../src/core/scheduler/coordinator-snapshot.ts';
import type { PartEnd, Sender, ToPart } from '../../src/core/scheduler/part-messages.ts';
import type { Coordination } from '../../src/core/scheduler/partition.ts';
import type { Rejection } from '../../src/core/scheduler/rejection.ts';
import { endIn, type GraphEnd } from '../../src/core/scheduler/tolerance.ts';
import { isSameTask, type TaskOnNode } from '../../src/core/task-on-node.ts';
import type { KeptCoordinator, KeptPeer } from '../contract.ts';
import type { FromCoordinatorSignal, FromPartSignal, PartRequest, Steering, ToPartSignal } from './messages.ts';
import { type Courier, createCourier } from './signals.ts';

/** How the parts of a graph end. */
export interface PartsEnding {
  /** Resolves once all of them have ended. */
  readonly parts: Promise<unknown>;
  turn(): void;
  /** Something happened. */
  changed(): Promise<void>;
  /** Not all have ended as their coordinator told them: it hears of no more. */
  isCutShort(): boolean;
}

/** The coordinator of the parts of a graph, as the workflow that has started them sees it: in this workflow or in another one. */
export interface PartsCoordinator {
  /** Its workflow; undefined: this one. */
  readonly id: string | undefined;
  /** Starts the parts and their coordinator. */
  start<Started>(startParts: () => Started): Promise<Started>;
  /** Resolves once the parts and their coordinator have ended. */
  ended(ending: PartsEnding): Promise<unknown>;
  /** Of the next request of an operator. */
  newRequest(): string;
  /** All parts are ready, and have been told to begin. */
  readonly started: boolean;
  /** Nodes that did not answer before the graph started. */
  readonly offline: readonly string[];
  /** Nothing runs, and nothing starts without an operator. */
  readonly quiet: boolean;
  readonly end: GraphEnd | undefined;
  statuses(): readonly PartStatus[];
  failures(): number;
  /** Parts that have not said that they are ready. */
  unready(): readonly number[];
  /** How people call the node. */
  nameOf(id: string): string;
  /** A part runs: its first run, and how to send to it. */
  attach(part: number, run: string, post: (signal: ToPartSignal) => Promise<void>): void;
  /** A part has ended; no `end`: not because it was told to. */
  settle(part: number, counts: PartStatus['counts'], end?: PartEnd): void;
  /** An operator's request; it is answered by its `id`. */
  ask(request: PartRequest): void;
  /** Answers this `id` when every part has processed the requests about the whole run so far. */
  acknowledge(id: string): void;
  /** @param isCancelling the parts have been told that they are cancelled */
  turn(steering: Steering, isCancelling: boolean): void;
  /** Answers all that wait: the graph has ended. */
  finish(): void;
  /** Handles the signal `from_part`. */
  onPart(signal: FromPartSignal): void;
  /** Handles the signal `from_coordinator`. */
  onCoordinator(signal: FromCoordinatorSignal): void;
}

/** A part, as its coordinator knows it. */
type Peer = { -readonly [K in keyof Omit<KeptPeer, 'replaced' | 'early' | 'requests'>]: KeptPeer[K] } & {
  readonly replaced: Set<string>;
  readonly early: FromPartSignal[];
  readonly outgoing: ToPart[];
  readonly requests: (PartRequest & { readonly seq: number })[];
  courier: Courier | null;
};

export interface CoordinatorOf {
  readonly graph: number;
  readonly parts: PlanReference['parts'];
  readonly hold: boolean;
  /** Of its messages. */
  by(): Sender;
  wake(): void;
  answer(id: string, rejection: Rejection | null): void;
  /** A part goes on in another execution. */
  moved(part: number, hasContinued: boolean): void;
}

/** Chance: what a run draws after a reset differs from what it drew before. */
const newStamp = (): number => 1 + Math.floor(Math.random() * 2 ** 31);

/** Drives a coordinator: takes the signals of parts, and sends them what it decides. */
export class CoordinatorDriver {
  readonly #of: CoordinatorOf;
  readonly #kept: KeptCoordinator | undefined;
  readonly #peers: readonly Peer[];
  readonly #inbox: CoordinatorEvent[];
  readonly #waiting: { after: readonly number[] | null; readonly id: string }[];
  readonly #asked: PartRequest[];
  /** What operators have asked of the run, as far as the coordinator knows. */
  readonly #seen: { paused: boolean; stopping: boolean; approved: Set<string> };
  /** Of the nodes that parts have mentioned, by their ids. */
  readonly #names: Map<string, string>;
  #coordinator: ReturnType<typeof createCoordinator> | null = null;
  #offline: readonly string[] | null;
  #end: GraphEnd | undefined;

  constructor(of: CoordinatorOf, kept?: KeptCoordinator) {
    this.#of = of;
    this.#kept = kept;
    this.#peers = (kept?.peers ?? of.parts.map(newPeer)).map((peer) => ({
      ...peer,
      replaced: new Set(peer.replaced),
      early: [...peer.early],
      outgoing: [],
      requests: [...peer.requests],
      courier: null,
    }));
    this.#inbox = [...(kept?.inbox ?? [])];
    this.#waiting = (kept?.waiting ?? []).map((one) => ({ ...one }));
    this.#asked = [...(kept?.asked ?? [])];
    const { paused = false, stopping = false, approved = [] } = kept?.seen ?? {};
    this.#seen = { paused, stopping, approved: new Set(approved) };
    this.#names = new Map(kept?.names ?? []);
    this.#offline = kept?.offline ?? null;
  }

  begin(coordination: Coordination): void {
    const kept = this.#kept?.coordinator;
    this.#coordinator =
      kept === undefined ? createCoordinator(coordination, newStamp) : restoreCoordinator(coordination, kept, newStamp);
  }

  get started(): boolean {
    return this.#offline !== null;
  }
  get offline(): readonly string[] {
    return this.#offline ?? [];
  }
  get quiet(): boolean {
    return this.#coordinator !== null && isQuiet(this.#coordinator) && !this.#seen.stopping;
  }
  get end(): GraphEnd | undefined {
    return this.#end;
  }
  nameOf(id: string): string {
    return this.#names.get(id) ?? id;
  }
  statuses(): readonly PartStatus[] {
    return this.#peers.map((peer) => peer.status);
  }
  failures(): number {
    return this.#peers.reduce((sum, peer) => sum + peer.status.counts.failed, 0);
  }
  unready(): readonly number[] {
    return [...this.#peers.keys()].filter((part) => this.#peers[part]!.ready === null);
  }

  attach(part: number, run: string, post: (signal: ToPartSignal) => Promise<void>): void {
    const peer = this.#peers[part]!;
    peer.run ??= run;
    for (const signal of peer.early.splice(0)) this.onSignal(signal);
    peer.courier = createCourier<ToPartSignal>(
      () => (peer.outgoing.length === 0 ? null : { by: this.#of.by(), messages: peer.outgoing.splice(0) }),
      post,
    );
    peer.courier.send();
  }

  /** Handles the signal `from_part`. */
  onSignal(signal: FromPartSignal): void {
    const peer = this.#peers[signal.part];
    if (signal.graph !== this.#of.graph || peer === undefined) return;
    if (peer.run === null) peer.early.push(signal);
    if (signal.run !== peer.run && !this.#isSuccessor(peer, signal)) return;
    if (!this.#isCurrent(peer, signal)) return;
    if (signal.seq > peer.newest) {
      peer.newest = signal.seq;
      if (!peer.ended) peer.status = signal.news;
      for (const [id, name] of Object.entries(signal.news.names ?? {})) this.#names.set(id, name);
    }
    if (signal.continued) this.#of.moved(signal.part, true);
    // After a reset it may have been ready long ago: a part has no messages before.
    if (signal.messages.length > 0) peer.ready ??= [];
    if (signal.ready) peer.ready = signal.ready.offline;
    for (const message of signal.messages) this.#inbox.push({ type: 'received', message });
    this.#of.wake();
  }

  /**
   * Whether another workflow is the part now. After several resets the history may name a part that ended long ago, and whose place
   * one has taken that a run between them started. Whoever was heard last is there.
   */
  #isSuccessor(peer: Peer, { part, run }: FromPartSignal): boolean {
    if (peer.execution === null) return false;
    peer.run = run;
    peer.execution = null;
    peer.newest = 0;
    this.#inbox.push({ type: 'part_reset', part });
    return true;
  }

  /** Whether the signal comes from the execution that the part has now. One that neither is the known one nor continues it is a reset. */
  #isCurrent(peer: Peer, { part, by }: FromPartSignal): boolean {
    if (by === undefined || by.run === peer.execution) return true;
    if (peer.replaced.has(by.run)) return false;
    if (peer.execution !== null) peer.replaced.add(peer.execution);
    const isReset = peer.execution !== null && by.after !== peer.execution;
    if (isReset) {
      peer.newest = 0;
      this.#inbox.push({ type: 'part_reset', part });
    }
    peer.execution = by.run;
    // A reset takes the request to cancel back, too; by its id the part is reached as it is now.
    this.#of.moved(part, false);
    return true;
  }

  settle(part: number, counts: PartStatus['counts'], end?: PartEnd): void {
    const peer = this.#peers[part]!;
    peer.ended = true;
    if (end !== undefined) this.#inbox.push({ type: 'ended', part, ...end });
    peer.status = { ...peer.status, counts, running: [], silent: [] };
  }

  ask(request: PartRequest): void {
    const { type, task, node } = request;
    this.#asked.push(request);
    this.#inbox.push({ type, task, node });
  }

  acknowledge(id: string): void {
    this.#waiting.push({ after: null, id });
  }

  turn(steering: Steering): void {
    const coordinator = this.#coordinator!;
    coordinator.hold = this.#of.hold && this.failures() > 0;
    const events = this.#gather(steering);
    if (events.length > 0) for (const command of coordinate(coordinator, ...events)) this.#execute(command);
    this.#answerProcessed();
  }

  finish(): void {
    for (const { id } of this.#waiting.splice(0)) this.#of.answer(id, null);
    for (const { id } of [...this.#asked, ...this.#peers.flatMap((peer) => peer.requests)])
      this.#of.answer(id, { reason: 'finished' });
  }

  /** Resolves when all messages have arrived. */
  async drain(): Promise<void> {
    await Promise.all(this.#peers.map(({ courier }) => courier?.drain()));
  }

  /** The state from which another driver can continue, once all messages have arrived. */
  keep(): KeptCoordinator {
    return {
      coordinator: keepCoordinator(this.#coordinator!),
      peers: this.#peers.map(({ courier: _, outgoing: __, replaced, ...peer }) => ({
        ...peer,
        replaced: [...replaced],
      })),
      inbox: this.#inbox,
      waiting: this.#waiting,
      asked: this.#asked,
      seen: { ...this.#seen, approved: [...this.#seen.approved] },
      names: [...this.#names],
      offline: this.#offline,
    };
  }

  /** Requests of operators and messages of parts, as events. Empty until all parts are ready. */
  #gather({ paused, stops, cancelled, approved }: Steering): CoordinatorEvent[] {
    const inbox = this.#inbox;
    const seen = this.#seen;
    if (!this.started) {
      if (cancelled || this.unready().length > 0) return [];
      const offline = this.#peers.flatMap((peer) => peer.ready!);
      this.#offline = offline;
      inbox.unshift({ type: 'begin', offline });
    }
    if (paused !== seen.paused) inbox.push({ type: paused ? 'pause' : 'resume' });
    seen.paused = paused;
    for (const name of approved) if (!seen.approved.has(name)) inbox.push({ type: 'approve', name });
    seen.approved = new Set(approved);
    if (stops && !seen.stopping) inbox.push({ type: 'stop' });
    seen.stopping = stops;
    return inbox.splice(0);
  }

  #execute(command: CoordinatorCommand): void {
    switch (command.type) {
      case 'send':
        this.#send(this.#peers[command.part]!, command.message);
        return;
      case 'rejected':
        this.#reject(command.rejection);
        return;
      case 'finish':
        this.#end = endIn(command);
        return;
      case 'stopping':
        return;
      default:
        command satisfies never;
    }
  }

  #send(peer: Peer, message: ToPart): void {
    const { retry = [], skip = [], pause, stop, approve, seq } = message;
    if ((pause ?? stop ?? approve) !== undefined) peer.steered = seq;
    for (const task of [...retry, ...skip]) {
      // What the part has not seen before a reset is sent once more.
      for (const from of [peer.requests, this.#asked]) {
        const at = from.findIndex((request) => isSameTask(request, task));
        if (at >= 0) peer.requests.push({ ...from.splice(at, 1)[0]!, seq });
      }
    }
    peer.outgoing.push(message);
    peer.courier?.send();
  }

  #reject(rejection: Rejection): void {
    const of: TaskOnNode | null = 'task' in rejection ? rejection : null;
    const own = this.#asked.findIndex((request) => of === null || isSameTask(request, of));
    if (own >= 0) this.#of.answer(this.#asked.splice(own, 1)[0]!.id, rejection);
    for (const peer of this.#peers) {
      const at = peer.requests.findIndex((request) => of !== null && isSameTask(request, of));
      if (at >= 0) this.#of.answer(peer.requests.splice(at, 1)[0]!.id, rejection);
    }
  }

  /** A part that has processed a request without rejecting it has accepted it. */
  #answerProcessed(): void {
    const processed = this.#peers.map((_, part) => processedBy(this.#coordinator!, part));
    for (const [part, { requests }] of this.#peers.entries())
      while (requests.length > 0 && requests[0]!.seq <= processed[part]!) this.#of.answer(requests.shift()!.id, null);
    for (const one of this.#waiting.splice(0)) {
      const after = (one.after ??= this.#peers.map((peer) => peer.steered));
      if (this.#peers.every((peer, part) => peer.ended || processed[part]! >= after[part]!))
        this.#of.answer(one.id, null);
      else this.#waiting.push(one);
    }
  }
}

const newPeer = (planned: PlanReference['parts'][number]): KeptPeer => ({
  status: { counts: plannedCounts(planned), running: [], failed: [], failing_nodes: 0, silent: [] },
  newest: 0,
  run: null,
  execution: null,
  replaced: [],
  early: [],
  ready: null,
  ended: false,
  steered: 0,
  requests: [],
});
