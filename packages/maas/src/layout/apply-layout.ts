import { createHash } from 'node:crypto';
import type { MaasClient } from '../client.ts';
import { isMaasFailure } from '../failure.ts';
import type { Machine } from '../machine.ts';
import type { WholeMachine } from '../machine-state.ts';
import { MachineStatus } from '../status.ts';
import { checkLayout } from './check-layout.ts';
import { type Hardware, type LayoutChange, withAnswer } from './hardware.ts';
import { applyKernelOptions } from './kernel-options.ts';
import type { MachineLayout } from './machine-layout.ts';
import { nextNetworkChange } from './network-changes.ts';
import { nextStorageChange } from './storage-changes.ts';

/** Why a machine cannot be configured as its documents describe it. */
type LayoutProblem =
  /** All reasons that show before the first change, or MAAS' refusal of one. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] }
  /** MAAS accepts a change, and the machine stays as it was. */
  | { readonly kind: 'stuck'; readonly wanted: string; readonly found: string; readonly difference: string };

/** @see LayoutProblem */
export class LayoutRefused extends Error {
  readonly problem: LayoutProblem;
  readonly hint: string;
  /** Earlier changes, in order. */
  readonly changed: readonly string[];

  constructor(problem: LayoutProblem, hint: string, changed: readonly string[] = []) {
    super(textOf(problem));
    this.name = 'LayoutRefused';
    this.problem = problem;
    this.hint = changed.length === 0 ? hint : `${hint}; ${howToGetBack(changed)}`;
    this.changed = changed;
  }
}

const textOf = (problem: LayoutProblem): string =>
  problem.kind === 'refused'
    ? problem.problems.join('; ')
    : `MAAS accepts "${problem.difference}" without effect: wanted is ${problem.wanted}, and MAAS shows ${problem.found}`;

const howToGetBack = (changed: readonly string[]): string =>
  `changed so far: ${changed.join(', ')}; to have the machine as it was found, commission it again in MAAS`;

/** Identifies a layout in the marker of a machine. */
export const layoutDigest = (layout: MachineLayout): string =>
  createHash('sha256').update(JSON.stringify(layout)).digest('hex').slice(0, 12);

interface AppliedLayout {
  /** In order. */
  readonly changes: readonly string[];
  /** As read after the last of them. */
  readonly machine: Machine;
}

/**
 * Configures interfaces, disks and kernel options as described. Each change follows from what MAAS shows of what the one before can have
 * altered: in its answer, or in a reading of that part. So it may be repeated after a crash or a lost answer; nothing is sent when all is
 * as described, and nothing more than twice without progress. The whole machine, which takes MAAS seconds, is read once after the last
 * change, since something else may have changed it meanwhile.
 * @param found the machine as just read
 * @param acting called before each change
 * @throws LayoutRefused when the machine or MAAS' networks do not allow it: before the first change, where that shows
 * @throws MaasError what MAAS refuses to its user, and failures that may pass
 */
export async function applyLayout(
  client: MaasClient,
  found: WholeMachine,
  layout: MachineLayout,
  acting: () => Promise<void>,
  signal?: AbortSignal,
): Promise<AppliedLayout> {
  const { systemId } = found.machine;
  const checked = await checkLayout(client, found.hardware, layout, signal);
  const done: string[] = [];
  const refuse = (problems: readonly string[], hint: string): never => {
    throw new LayoutRefused({ kind: 'refused', problems }, hint, done);
  };
  if (checked.problems.length > 0) {
    const isHeld = checked.hardware.status === MachineStatus.Allocated;
    const correct = 'correct the documents, or the machine and its networks in MAAS';
    refuse(checked.problems, isHeld ? `${correct}; for its disks, release it in MAAS, then retry the node` : correct);
  }
  const problems = new Set<string>();
  const nextChange = (hardware: Hardware): LayoutChange | undefined =>
    (checked.storage && nextStorageChange(hardware, checked.storage, (problem) => problems.add(problem))) ??
    (checked.interfaces && nextNetworkChange(hardware, checked.interfaces, layout.untouched));

  done.push(
    ...(await applyKernelOptions(client, systemId, checked.hardware.tags, layout.kernelOptions, acting, signal)),
  );
  const steps = new StepCount();
  let { machine } = found;
  let { hardware } = checked;
  const readWhole = async (): Promise<void> => {
    const whole = await client.layouts.whole(systemId, signal);
    machine = whole.machine;
    hardware = checked.storage ? await client.layouts.withGroups(whole.hardware, signal) : whole.hardware;
    isWhole = true;
  };
  let isWhole = done.length === 0;
  for (;;) {
    const change = nextChange(hardware);
    if (problems.size > 0) refuse([...problems], 'correct the documents');
    if (!change) {
      if (isWhole) return { changes: done, machine };
      await readWhole();
      continue;
    }
    if (!steps.mayTake(change, hardware)) {
      const { wanted, found, text: difference } = change;
      throw new LayoutRefused({ kind: 'stuck', wanted, found, difference }, 'check the machine in MAAS', done);
    }
    await acting();
    let answer: unknown;
    try {
      answer = await client.layouts.send(systemId, change, signal);
    } catch (error) {
      // The object to be removed may no longer exist. After a 409 the state of the machine decides: someone else changes it.
      const isGone = change.method === 'delete' && isMaasFailure(error, 'not-found');
      if (!isGone && !isMaasFailure(error, 'invalid', 'not-found')) throw error;
      if (!isGone)
        refuse(
          [`MAAS refuses to ${change.text}: ${error.message}`],
          'correct the documents, or the part that MAAS names',
        );
    }
    done.push(change.text);
    const altered =
      withAnswer(change, answer, hardware) ?? (await client.layouts.hardwareAfter(change, hardware, signal));
    isWhole = false;
    if (altered) hardware = altered;
    else await readWhole();
  }
}

/** A change is sent again once: its effect may have been late, or someone undid it. */
const MAX_TIMES = 2;

/**
 * Counts the changes of one machine, so that none is sent for ever. A creation may be sent twice. A removal may be
 * sent twice while the machine is the same: one may have two links of a kind.
 */
export class StepCount {
  readonly #times = new Map<string, number>();

  mayTake({ text, removes }: LayoutChange, hardware: Hardware): boolean {
    const key = removes ? `${text}\n${appearance(hardware)}` : text;
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    return times <= MAX_TIMES;
  }
}

/** A machine without its ids in MAAS, which are new each time. */
const appearance = ({ interfaces, disks, groups, composites }: Hardware): string =>
  JSON.stringify({ interfaces, disks, groups, composites }, (key, value: unknown) =>
    withoutIds.has(key) ? undefined : value,
  );

const withoutIds: ReadonlySet<string> = new Set(['id', 'uuid', 'discovered']);
