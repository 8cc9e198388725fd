import type { Hardware, LayoutChange } from './hardware.ts';

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
