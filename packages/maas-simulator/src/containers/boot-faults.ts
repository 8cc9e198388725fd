import { isObject } from '@sitewright/maas/json';

/**
 * A fault of one boot of a machine: it never starts, loses its power while cloud-init runs, or reboots
 * meanwhile.
 */
export const bootFaults = ['no_boot', 'dies', 'reboots'] as const;
type BootFault = (typeof bootFaults)[number];

const isBootFault = (value: unknown): value is BootFault => bootFaults.some((known) => known === value);

/** The faults of the next boots of each machine, in order, by hostname. */
export class BootFaults {
  readonly #next = new Map<string, BootFault[]>();

  /** Uses up the fault of the boot that starts now. */
  take(hostname: string): BootFault | undefined {
    return this.#next.get(hostname)?.shift();
  }

  /** Reads the body of the control `boots`; replaces all, or returns every problem. */
  set(body: unknown): readonly string[] {
    if (!isObject(body)) return ['boots takes an object, for example {"n001":["no_boot"]}'];
    const problems: string[] = [];
    const next = new Map<string, BootFault[]>();
    for (const [hostname, faults] of Object.entries(body)) {
      if (Array.isArray(faults) && faults.every(isBootFault)) next.set(hostname, [...faults]);
      else problems.push(`${hostname} must be a list of ${bootFaults.join(', ')}`);
    }
    if (problems.length > 0) return problems;
    this.#next.clear();
    for (const [hostname, faults] of next) this.#next.set(hostname, faults);
    return [];
  }

  get all(): Readonly<Record<string, readonly BootFault[]>> {
    return Object.fromEntries([...this.#next].filter(([, faults]) => faults.length > 0));
  }
}
