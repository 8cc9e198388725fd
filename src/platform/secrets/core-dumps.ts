import { writeFileSync } from 'node:fs';

/** Which mappings Linux writes into a core dump: bits, core(5). */
const NOTHING = '0x0';
const DEFAULT = '0x33';

/** Keeps the memory of this process, and of those it starts, out of core dumps. Not on systems without such a filter. */
export const keepMemoryOutOfCoreDumps = (): void => filter('self', NOTHING);

/** Lets a program that is not ours dump core as usual. */
export const allowCoreDumpsOf = (pid: number): void => filter(String(pid), DEFAULT);

function filter(process: string, bits: string): void {
  try {
    writeFileSync(`/proc/${process}/coredump_filter`, bits);
  } catch {
    // Another system, or the program has ended already.
  }
}
