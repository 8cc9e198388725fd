import type { Rehearsal } from '../../core/contracts/rehearsals.ts';
import type { GraphRunFailure } from '../../core/graph-run/failure.ts';
import type { GraphRunInput } from '../../core/graph-run/input.ts';
import type { RunFailure } from '../../core/site-run/failure.ts';
import type { SiteRunInput } from '../../core/site-run/input.ts';
import type { SiteRunKind } from '../../core/words.ts';
import type { StoreCopy } from '../../store/index.ts';

/** The run to live through. */
export type RehearsedRun =
  | { readonly kind: SiteRunKind; readonly input: SiteRunInput }
  | { readonly kind: 'execute_graph'; readonly input: GraphRunInput };

/** A machine of a simulated MAAS. */
export interface RehearsedMachine {
  /** In the documents. */
  readonly node: string;
  readonly hostname: string;
  /** Number of MAAS. */
  readonly status: number;
  readonly tags: readonly string[];
  readonly zone?: string;
  /** Held by our own user, by someone else, or by no one. */
  readonly holder: 'us' | 'other' | null;
  readonly annotations: Readonly<Record<string, string>>;
  readonly locked: boolean;
  readonly osystem?: string;
  readonly distroSeries?: string;
  /** `bus`: its address there, as `lshw` writes it. */
  readonly interfaces: readonly { readonly name: string; readonly mac?: string; readonly bus?: string }[];
  readonly disks: readonly { readonly name: string; readonly size: number; readonly bus?: string }[];
}

/** How long things take, in seconds. */
export interface Durations {
  readonly commission: number;
  readonly deploy: number;
  readonly release: number;
  readonly erase: number;
  /** By the name of the task. */
  readonly tasks: Readonly<Record<string, number>>;
  /** Of all others. */
  readonly task: number;
}

export interface RehearsedFaults {
  /** Host names of machines. */
  readonly failDeployment: readonly string[];
  /** `node`: its id, as histories have it; absent: each. It is tried so often on a node, with so many seconds between. */
  readonly failTasks: readonly {
    readonly task: string;
    readonly node?: string;
    readonly tries: number;
    readonly pause: number;
  }[];
  readonly maasAway: readonly { readonly after: number; readonly seconds: number }[];
}

/** All that a rehearsal needs, as data: it knows the address of no store, Temporal or MAAS. */
export interface RehearsalOrder {
  readonly run: RehearsedRun;
  readonly copy: StoreCopy;
  readonly machines: readonly RehearsedMachine[];
  /** Subnets of MAAS: `10.0.0.0/24`, with their tags. */
  readonly networks: readonly { readonly cidr: string; readonly vid?: number }[];
  /** Systems that MAAS can deploy besides its usual ones: `ubuntu/focal`. */
  readonly images: readonly string[];
  /** Nodes with agents: the names in the queue of each, its id as histories have it, and its name for people. */
  readonly agents: readonly {
    readonly site: string;
    readonly node: string;
    readonly uid: string;
    readonly shown: string;
  }[];
  readonly durations: Durations;
  readonly faults: RehearsedFaults;
}

export type RehearsalAnswer =
  | { readonly kind: 'rehearsed'; readonly rehearsal: Omit<Rehearsal, 'assumptions'> }
  | { readonly kind: 'refused'; readonly failure: RunFailure | GraphRunFailure };

/** Lives through runs, one at a time. */
export interface Rehearser {
  rehearse(order: RehearsalOrder, signal?: AbortSignal): Promise<RehearsalAnswer>;
}
