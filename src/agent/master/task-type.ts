import type { TaskType } from '../../core/task-types/index.js';
import type { MachineContext, OperationOptions } from '../../maas/index.js';

/** One task on one machine, as it is carried out from the orchestrator's host through MAAS. */
export interface MaasTask {
  readonly maas: MachineContext;
  readonly systemId: string;
  readonly hostname: string;
  /** Whose machine it must be. */
  readonly site: string;
  /** For MAAS' log. */
  readonly comment: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What an earlier try of the same execution said last. */
  readonly reached: string | undefined;
  /** Remembers how far it is, for a try after the death of this process. */
  readonly reach: (step: string) => void;
  /** The signal cancels; the operation ends at once with its reason. */
  readonly options: OperationOptions;
}

export type MaasTaskEnd =
  | { readonly ok: true; readonly changed: boolean; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly message: string };

interface MaasWork<P> {
  /** False: it is about MAAS itself, and no machine is looked up. Default true. */
  readonly needsMachine?: boolean;
  /** May be called again at any point, and goes on from the machine's real state. */
  run(parameters: P, task: MaasTask): Promise<MaasTaskEnd>;
}

/** A type of task that MAAS carries out. */
export interface MaasTaskType {
  readonly name: string;
  readonly needsMachine: boolean;
  run(task: MaasTask): Promise<MaasTaskEnd>;
}

export const maasTaskType = <P>(type: TaskType<P>, { needsMachine = true, run }: MaasWork<P>): MaasTaskType => ({
  name: type.name,
  needsMachine,
  run: (task) => run(type.prepare(task.parameters, {}).parameters, task),
});
