import type { Execution, SimulatedTemporal } from '@sitewright/temporal-simulator';
import type { Observer } from '../../../worker/parts/rehearsals/installation.ts';
import { caller } from '../../../worker/parts/rehearsals/world.ts';
import type { CopiedStore } from './copied-store.ts';

/** A record of TLA+. */
export type TraceEvent = Readonly<Record<string, string | number | boolean | object>>;

interface Claimed {
  readonly run: string;
  readonly execution: number;
}

interface Claimant {
  readonly runId: string;
  readonly executionId: string;
}

const FREE: Claimed = { run: '', execution: 0 };

const KINDS: Readonly<Record<string, string>> = {
  open_run: 'open',
  open_graph_run: 'open',
  close_run: 'close',
  close_graph_run: 'close',
};

/** What happens to the claim of one site or cluster, in the words of test/models/ClaimTrace.tla. */
export class ClaimTrace {
  readonly events: TraceEvent[] = [];
  readonly #temporal: SimulatedTemporal;
  readonly #subject: 'site' | 'cluster';
  readonly #runs = new Map<string, { readonly name: string; executions: number; status: string }>();
  /** Number of each execution in its run: 0 for a reset of a run that had ended by itself. */
  readonly #numbers = new Map<string, number>();
  readonly #steps = new Map<string, number>();
  #seen = 0;

  constructor(temporal: SimulatedTemporal, subject: 'site' | 'cluster') {
    this.#temporal = temporal;
    this.#subject = subject;
  }

  /** Listens beside another observer. */
  beside(observer: Observer): Observer {
    return {
      store: (call) => {
        if (call.port === 'claims' || (call.port === 'runs' && call.method === 'end')) this.#called(call);
        if (call.port === 'taskHistory' && call.method === 'record') this.#changes();
        if (call.port === 'runs' && call.method === 'putNodes') this.#changes();
        observer.store(call);
      },
      beforeMaasChange: (...request) => {
        if (/\/machines\//.test(request[2])) this.#changes();
        observer.beforeMaasChange(...request);
      },
      ...(observer.atMaasChange && { atMaasChange: observer.atMaasChange.bind(observer) }),
      afterMaasChange: (request) => observer.afterMaasChange(request),
      askedHold: (...about) => observer.askedHold(...about),
      askedExecution: (_workflowId, runId) => this.#asked(runId),
    };
  }

  /** The same store, whose copies and restores are events. */
  copying({ copy, restore }: Pick<CopiedStore, 'copy' | 'restore'>): Pick<CopiedStore, 'copy' | 'restore'> {
    const told = async (what: string, work: () => Promise<void>): Promise<void> => {
      this.#look();
      await work();
      this.#tell({ what });
    };
    return { copy: () => told('copy', copy), restore: () => told('restore', restore) };
  }

  #tell(event: TraceEvent): void {
    this.events.push(event);
  }

  /** What has become of runs since the last event. */
  #look(): void {
    const { executions } = this.#temporal;
    for (const execution of executions.slice(this.#seen)) {
      const { parent, runId, originalRunId } = execution;
      if (parent !== undefined) continue;
      const known = this.#runs.get(originalRunId);
      if (known === undefined) {
        const name = `r${this.#runs.size + 1}`;
        this.#runs.set(originalRunId, { name, executions: 1, status: 'RUNNING' });
        this.#numbers.set(runId, 1);
        this.#tell({ what: 'start', run: name });
      } else if (this.#now(originalRunId).runId === runId) {
        known.executions++;
        known.status = 'RUNNING';
        this.#numbers.set(runId, known.executions);
        this.#tell({ what: 'reset', run: known.name });
      } else this.#numbers.set(runId, 0);
    }
    this.#seen = executions.length;
    for (const [id, run] of this.#runs) {
      const { status } = this.#now(id);
      if (status === run.status) continue;
      run.status = status;
      this.#tell({ what: status === 'TERMINATED' ? 'terminate' : 'complete', run: run.name });
    }
  }

  #now(run: string): Execution {
    const first = this.#temporal.executions.find(({ runId }) => runId === run)!;
    return this.#temporal.current(first);
  }

  #claimed(claim: Claimant | null): Claimed {
    if (claim === null) return FREE;
    return { run: this.#runs.get(claim.runId)?.name ?? '?', execution: this.#numbers.get(claim.executionId) ?? 0 };
  }

  /** The step whose code runs, as it stands in the trace. */
  #step(): { step: number; run: string; execution: number; kind: string; child: Execution | undefined } | null {
    const by = caller();
    if (by === null) return null;
    let root = this.#temporal.find(by.workflowId, by.runId);
    const own = root;
    while (root.parent !== undefined) root = this.#temporal.find(root.parent.workflowId, root.parent.runId);
    const key = `${by.runId} ${by.activity} ${by.attempt}`;
    const step = this.#steps.get(key) ?? this.#steps.size + 1;
    this.#steps.set(key, step);
    const isChild = root !== own;
    return {
      step,
      run: this.#runs.get(root.originalRunId)?.name ?? '?',
      // A child acts for whichever execution its parent has.
      execution: isChild ? 0 : (this.#numbers.get(by.runId) ?? 0),
      kind: isChild ? 'child' : (KINDS[by.type] ?? 'work'),
      child: isChild ? own : undefined,
    };
  }

  #called({ port, method, args, result }: Parameters<Observer['store']>[0]): void {
    const subject = (port === 'runs' ? args[2] : args[0]) as object;
    if (!(this.#subject in subject)) return;
    this.#look();
    const by = this.#step();
    if (by === null) return;
    const { step, run, execution, kind } = by;
    const isClaimed = (result as { claimed?: boolean } | null)?.claimed === true;
    if (port === 'runs') this.#tell({ what: 'end', step });
    else if (method === 'holder')
      this.#tell({ what: 'read', step, run, execution, kind, claim: this.#claimed(result as Claimant | null) });
    else if (method === 'claim') this.#tell({ what: 'claim', step, isClaimed, ...this.#claimed(args[1] as Claimant) });
    else if (method === 'takeOver') {
      const [from, to] = [this.#claimed(args[1] as Claimant), this.#claimed(args[2] as Claimant)];
      this.#tell({ what: 'take over', step, from, to, isClaimed });
    } else if (method === 'release') this.#tell({ what: 'release', run });
  }

  #asked(runId: string | null): void {
    this.#look();
    const by = this.#step();
    const of = runId === null ? undefined : this.#runs.get(runId)?.name;
    if (by === null || of === undefined) return;
    this.#tell({ what: 'ask', step: by.step, of, isItsChild: this.#isItsChild(runId!, by.child) });
  }

  #isItsChild(run: string, child: Execution | undefined): boolean {
    if (child === undefined) return false;
    const known = [...this.#now(run).children.values()].find(({ workflowId }) => workflowId === child.workflowId);
    if (known === undefined) return false;
    const newest = this.#temporal.newest(child.workflowId);
    return (
      known.runId === child.runId || (newest !== undefined && this.#temporal.current(newest).runId === child.runId)
    );
  }

  #changes(): void {
    this.#look();
    const by = this.#step();
    if (by !== null) this.#tell({ what: 'change', step: by.step });
  }
}
