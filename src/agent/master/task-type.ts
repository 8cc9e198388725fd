import type { MachineContext, MachineOutcome, OperationOptions } from '@sitewright/maas';
import type { TaskType } from '../../core/task-types/index.ts';

/** One task on one machine, carried out from the orchestrator's host through MAAS. */
export interface MaasCall {
  readonly maas: MachineContext;
  readonly systemId: string;
  readonly hostname: string;
  /** The site that must own the machine. */
  readonly site: string;
  /** For the log of MAAS. */
  readonly comment: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The last step that an earlier try of the same execution reached. */
  readonly reached: string | undefined;
  /** Records a step, for a later try if this process dies. */
  readonly reach: (step: string) => void;
  /** To be called before each change, unless `options` are passed on; rejects while nothing may start, later without the cluster. */
  readonly mayChange: () => Promise<void>;
  /** To be called with the outcome of its release. */
  readonly released: (outcome: MachineOutcome & { readonly ok: true }) => Promise<void>;
  /** Its signal cancels: the operation ends immediately with the abort reason. */
  readonly options: OperationOptions;
}

export type MaasWorkEnd =
  | { readonly ok: true; readonly changed: boolean; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly message: string };

interface Work<P> {
  /** False for a task about MAAS itself, which needs no machine. Default true. */
  readonly needsMachine?: boolean;
  /** May be called again at any time; continues from the machine's actual state. */
  run(parameters: P, task: MaasCall): Promise<MaasWorkEnd>;
}

/** A task type that MAAS carries out. */
export interface MaasWork {
  readonly name: string;
  readonly needsMachine: boolean;
  run(task: MaasCall): Promise<MaasWorkEnd>;
}

export const maasTaskType = <P>(type: TaskType<P>, { needsMachine = true, run }: Work<P>): MaasWork => ({
  name: type.name,
  needsMachine,
  run: (task) => run(type.prepare(task.parameters, {}).parameters, task),
});
