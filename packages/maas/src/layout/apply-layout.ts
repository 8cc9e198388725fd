import { createHash } from 'node:crypto';
import type { MaasClient } from '../client.ts';
import { isMaasFailure } from '../failure.ts';
import { MachineStatus } from '../status.ts';
import { checkLayout } from './check-layout.ts';
import type { Hardware, LayoutChange } from './hardware.ts';
import { applyKernelOptions } from './kernel-options.ts';
import type { MachineLayout } from './machine-layout.ts';
import { nextNetworkChange } from './network-changes.ts';
import { StepCount } from './step-count.ts';
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

/**
 * Configures interfaces, disks and kernel options as described. Each call follows from a reading of the machine, so that it may
 * be repeated after a crash or a lost answer; nothing is sent when all is as described, and nothing more than twice without progress.
 * @param acting called before each change
 * @returns the changes, in order
 * @throws LayoutRefused when the machine or MAAS' networks do not allow it: before the first change, where that shows
 * @throws MaasError what MAAS refuses to its user, and failures that may pass
 */
export async function applyLayout(
  client: MaasClient,
  systemId: string,
  layout: MachineLayout,
  acting: () => Promise<void>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const checked = await checkLayout(client, systemId, layout, signal);
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
  let { hardware } = checked;
  for (;;) {
    const change = nextChange(hardware);
    if (problems.size > 0) refuse([...problems], 'correct the documents');
    if (!change) return done;
    if (!steps.mayTake(change, hardware)) {
      const { wanted, found, text: difference } = change;
      throw new LayoutRefused({ kind: 'stuck', wanted, found, difference }, 'check the machine in MAAS', done);
    }
    await acting();
    try {
      await client.layouts.send(systemId, change, signal);
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
    hardware = await client.layouts.hardware(systemId, signal);
  }
}
