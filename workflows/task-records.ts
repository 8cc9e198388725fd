import { workflowInfo } from '@temporalio/workflow';
import type { RecordTasks } from '../activities/graph-contract.js';
import type { Ledger } from '../src/core/graph-run/index.js';
import { bookkeeping } from './activity-options.js';
import { callActivity } from './border.js';

/** So many rows are written at once; fewer wait for company. */
const ROWS = 300;
const AGE_MS = 5_000;

/** Events that one record costs when nothing else happens beside it. */
const EVENTS_A_RECORD = 11;
/** Records may be a fifth of a history; the first few are free, so that a short run shows its rows at once. */
const FREE_EVENTS = 220;

/** Writes history rows in batches, beside the run: one at a time, and in order. */
export interface Records {
  /** Writes what is due. To be called whenever something happened. */
  flush(): void;
  /** When rows wait and no event will flush them: the time (ms) at which `flush` should be called again. */
  dueAt(): number | null;
  /** How many batches were written or begun. */
  readonly sequence: number;
  /** Writes everything; resolves once it is written, or rejects if any record could not be. */
  drain(): Promise<void>;
}

/** @param written batches of this writer in histories before this one */
export function createRecords(
  ledger: Ledger,
  of: Pick<RecordTasks, 'transaction' | 'graph' | 'part'>,
  wake: () => void,
  written = 0,
): Records {
  let sequence = written;
  let last = Date.now();
  let writing: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;

  /** Timed records are bounded by what else happened: a long run must not fill its history with them. */
  const affordable = (): boolean =>
    (sequence - written) * EVENTS_A_RECORD * 5 < workflowInfo().historyLength + FREE_EVENTS * 5;

  function write(): void {
    last = Date.now();
    sequence += 1;
    const record: RecordTasks = { ...of, sequence, rows: ledger.takeRows() };
    const options = bookkeeping(`record ${record.rows.length} tasks`);
    writing = callActivity('record_tasks', record, options)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => {
        writing = null;
        wake();
      });
  }

  return {
    flush() {
      if (writing !== null || ledger.pending === 0) return;
      const aged = Date.now() - last >= AGE_MS && affordable();
      if (ledger.pending >= ROWS || aged) write();
    },
    get sequence() {
      return sequence;
    },
    dueAt: () => (writing === null && ledger.pending > 0 && affordable() ? last + AGE_MS : null),
    async drain() {
      while (writing !== null || ledger.pending > 0) {
        if (writing === null) write();
        await writing;
      }
      if (failure !== null) throw failure.error;
    },
  };
}
