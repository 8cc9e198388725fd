import { isMapping, type Mapping } from '../data/plain-value.ts';
import { goesToMaster, kindOfType } from './off-agent.ts';
import { type ParameterProblem, type Parameters, Place, type Reading, type Values } from './parameter.ts';

/** Limits of a task, derived from its parameters. */
export interface TaskLimits {
  readonly timeoutSec: number;
  /** Whether the timeout covers all tries together, or each. */
  readonly timeoutCovers: 'all-tries' | 'each-try';
  /** Further tries after a failed one. */
  readonly retries: number;
  /** Seconds between tries. */
  readonly intervalSec: number;
  /** Seconds between TERM and KILL when it is cancelled or times out. */
  readonly killGraceSec: number;
}

/** Content that a task needs but does not contain. The agent fetches it before the task starts. */
export type TaskInput =
  | { readonly kind: 'secret'; readonly ref: string }
  /** A file on the machine that has the sources (`copy_files`). */
  | { readonly kind: 'source'; readonly path: string }
  /** A folder there, with the SHA-256 of the list of its files, for the folder `dst` of the node. */
  | { readonly kind: 'folder'; readonly path: string; readonly digest: string; readonly dst: string };

/** The executor of a task: the node's agent, or the worker through MAAS. */
export type Transport = 'agent' | 'maas';

/** An example for the documentation; a test runs it. */
interface Example {
  readonly parameters: Mapping;
  /** Expected part of the result. */
  readonly result: Mapping;
  /** A program that it requires. */
  readonly needs?: string;
}

/** A task of this type after its parameters are read. */
export interface Prepared<P> {
  readonly parameters: P;
  readonly limits: TaskLimits;
  readonly inputs: readonly TaskInput[];
  readonly problems: readonly ParameterProblem[];
}

/** Definition of a task type. The code that carries it out is in src/agent, under the same name. */
export interface TaskType<P = unknown, Name extends string = string> {
  readonly name: Name;
  /**
   * `work`: it does work. `nothing`: it ends as soon as its turn comes. `order`: it only places and orders other tasks,
   * whichever tasks are selected.
   */
  readonly kind: 'work' | 'nothing' | 'order';
  /** Transports in order of preference; empty if nothing carries it out. */
  readonly over: readonly Transport[];
  /** In noop mode, `skip` does nothing, and `simulate` runs the task, which must change nothing. */
  readonly noop: 'skip' | 'simulate';
  /** Whether it runs arbitrary scripts, which a node's policy may forbid. */
  readonly anyScript: boolean;
  /** For the documentation, in Markdown. */
  readonly does: string;
  readonly parameters: Parameters;
  readonly examples: readonly Example[];
  prepare(given: Mapping, reading: Reading): Prepared<P>;
  /** For parameters that name nodes: the part for one of them. */
  partFor?(given: Mapping, uid: string, agent: string): { readonly parameters: Mapping; readonly problem?: string };
}

interface Definition<P extends Parameters>
  extends Partial<Pick<TaskType, 'noop' | 'anyScript' | 'examples' | 'partFor'>> {
  /** Not for types that MAAS runs (`goesToMaster`). */
  readonly over?: readonly Transport[];
  readonly does: string;
  readonly parameters: P;
  readonly limits?: (values: Values<P>) => Partial<TaskLimits>;
  readonly inputs?: (values: Values<P>) => readonly TaskInput[];
  /** Rules that involve several parameters. */
  readonly rule?: (values: Values<P>, place: Place) => void;
}

const DEFAULT_LIMITS: TaskLimits = {
  timeoutSec: 3_600,
  timeoutCovers: 'all-tries',
  retries: 0,
  intervalSec: 0,
  killGraceSec: 30,
};

export function taskType<const Name extends string, P extends Parameters>(
  name: Name,
  { limits, inputs, rule, ...definition }: Definition<P>,
): TaskType<Values<P>, Name> {
  return {
    kind: kindOfType(name),
    over: goesToMaster(name) ? ['maas'] : [],
    noop: 'skip',
    anyScript: false,
    examples: [],
    ...definition,
    name,
    prepare: (given, reading) => {
      const place = new Place(given, reading);
      const parameters = place.readAll(definition.parameters, isMapping(given) ? given : {});
      rule?.(parameters, place);
      return {
        parameters,
        limits: { ...DEFAULT_LIMITS, ...limits?.(parameters) },
        inputs: inputs?.(parameters) ?? [],
        problems: place.problems,
      };
    },
  };
}
