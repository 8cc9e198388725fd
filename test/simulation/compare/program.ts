import type { Random } from '@sitewright/temporal-simulator';

/**
 * A workflow as data, and what is asked of it: the same for a real server and the simulated one. Branches touch each other only after
 * they have waited for a signal of their own, so that each server has one history to give, whatever the order of its work.
 */
export interface Program {
  readonly branches: readonly (readonly Step[])[];
  readonly end: 'complete' | 'fail' | 'again';
}

export type Step =
  | { readonly do: 'activity'; readonly id: string; readonly plan: Plan; readonly cancellation: Cancellation }
  | { readonly do: 'timer'; readonly ms: number }
  | { readonly do: 'wait'; readonly signal: string }
  | {
      readonly do: 'child';
      readonly id: string;
      readonly program: Program;
      readonly onClose: 'TERMINATE' | 'ABANDON' | 'REQUEST_CANCEL';
      readonly cancellation: ChildCancellation;
    }
  | { readonly do: 'memo' }
  | { readonly do: 'signal'; readonly to: string }
  | { readonly do: 'cancel branch'; readonly branch: number }
  | { readonly do: 'cancel workflow'; readonly to: string }
  | { readonly do: 'fail' };

export type Plan =
  | 'succeeds'
  | 'fails once'
  | 'fails'
  | 'fails for good'
  | 'times out'
  /** Until it is cancelled. */
  | 'goes on'
  /** Completes when it is cancelled. */
  | 'is stubborn'
  /** Never learns that it is cancelled. */
  | 'is deaf';
export type Cancellation = 'WAIT_CANCELLATION_COMPLETED' | 'TRY_CANCEL' | 'ABANDON';
export type ChildCancellation = Cancellation | 'WAIT_CANCELLATION_REQUESTED';

/** A request of a client. `child`: to the child of this number instead of the workflow. */
export type Request = { readonly child?: number } & (
  | { readonly ask: 'signal'; readonly name: string }
  | { readonly ask: 'update'; readonly how: 'at once' | 'later' | 'fails' | 'is rejected' }
  | { readonly ask: 'cancel' }
  | { readonly ask: 'terminate' }
  | { readonly ask: 'query' }
  /** To the workflow task that follows this signal. */
  | { readonly ask: 'reset'; readonly signal: number }
);

const PLANS: readonly (readonly [number, Plan])[] = [
  ...[[4, 'succeeds'] as const, [2, 'fails once'] as const, [1, 'fails'] as const],
  ...[[1, 'fails for good'] as const, [0.5, 'times out'] as const, [2, 'goes on'] as const],
  ...[[1, 'is stubborn'] as const, [1, 'is deaf'] as const],
];
const CANCELLATIONS: readonly Cancellation[] = ['WAIT_CANCELLATION_COMPLETED', 'TRY_CANCEL', 'ABANDON'];

/** The program of a seed, and what is asked of it. */
export function programOf(random: Random): { readonly program: Program; readonly requests: readonly Request[] } {
  let signals = 0;
  let children = 0;
  let activities = 0;

  const step = (depth: number, hasWaited: boolean, branches: number): Step => {
    const kind = random.weighed<Step['do']>([
      [4, 'activity'],
      [2, 'timer'],
      [3, 'wait'],
      [depth === 0 ? 2.5 : 0, 'child'],
      [1, 'memo'],
      [hasWaited ? 1 : 0, 'signal'],
      [hasWaited ? 1.5 : 0, 'cancel branch'],
      [hasWaited ? 0.7 : 0, 'cancel workflow'],
      [hasWaited ? 0.3 : 0, 'fail'],
    ]);
    switch (kind) {
      case 'activity':
        return {
          do: kind,
          id: `a${++activities}`,
          plan: random.weighed(PLANS),
          cancellation: random.pick(CANCELLATIONS),
        };
      case 'timer':
        return { do: kind, ms: random.chance(0.6) ? random.int(1, 40) : 3_600_000 };
      case 'wait':
        return { do: kind, signal: `s${++signals}` };
      case 'child':
        return {
          do: kind,
          id: `c${++children}`,
          program: program(depth + 1),
          onClose: random.pick(['TERMINATE', 'ABANDON', 'REQUEST_CANCEL'] as const),
          cancellation: random.pick([...CANCELLATIONS, 'WAIT_CANCELLATION_REQUESTED'] as const),
        };
      case 'signal':
      case 'cancel workflow':
        return { do: kind, to: random.pick(['nobody', ...(children > 0 ? [`c${random.int(1, children)}`] : [])]) };
      case 'cancel branch':
        return { do: kind, branch: random.int(0, branches - 1) };
      default:
        return { do: kind };
    }
  };
  const program = (depth: number): Program => {
    const count = random.int(1, depth === 0 ? 4 : 2);
    const branches = Array.from({ length: count }, () => {
      const steps: Step[] = [];
      for (let left = random.int(1, 4); left > 0; left--)
        steps.push(
          step(
            depth,
            steps.some((one) => one.do === 'wait'),
            count,
          ),
        );
      return steps;
    });
    return { branches, end: random.weighed([[4, 'complete'] as const, [1, 'fail'] as const, [1, 'again'] as const]) };
  };

  const main = program(0);
  const requests = Array.from({ length: random.int(3, 7) }, (): Request => {
    const ask = random.weighed<Request['ask']>([
      [6, 'signal'],
      [3, 'update'],
      [1.5, 'cancel'],
      [0.7, 'terminate'],
      [1, 'query'],
      [2, 'reset'],
    ]);
    const child = children > 0 && random.chance(0.25) ? { child: random.int(1, children) } : {};
    if (ask === 'signal') return { ask, name: `s${random.int(1, Math.max(1, signals))}`, ...child };
    if (ask === 'update')
      return { ask, how: random.pick(['at once', 'later', 'fails', 'is rejected'] as const), ...child };
    // A child that is reset belongs to no one (docs: a reset of a child is a run of its own).
    if (ask === 'reset') return { ask, signal: random.int(0, 2) };
    return { ask, ...child };
  });
  return { program: main, requests };
}
