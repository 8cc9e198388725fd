import { workflowInfo } from '@temporalio/workflow';
import type { RecordTasks } from '../activities/graph-contract.ts';
import type { Ledger } from '../src/core/graph-run/index.ts';
import { counted } from '../src/core/text/text.ts';
import { bookkeeping } from './activity-options.ts';
import { callActivity } from './border.ts';

/** A full batch is written immediately; fewer rows wait. */
const ROWS = 300;

/** Events that one record costs when nothing else happens at the same time. */
const EVENTS_A_RECORD = 11;
/** Records may take a fifth of a history. The first few are free, so that a short run shows its rows immediately. */
const FREE_EVENTS = 220;

/** Writes history rows in batches in the background: one batch at a time, in order. */
interface Records {
  /** Writes due records. Call it after every event. */
  flush(): void;
  /** The time (ms) at which to call `flush` again if no event does so earlier; null when no rows wait. */
  dueAt(): number | null;
  /** Number of batches written or being written. */
  readonly sequence: number;
  /** Writes everything. Rejects if any record could not be written. */
  drain(): Promise<void>;
}

/**
 * @param everyMs least time between two batches that are not full
 * @param written number of batches this writer wrote in earlier histories
 */
export function createRecords(
  ledger: Ledger,
  of: Pick<RecordTasks, 'transaction' | 'graph' | 'part'>,
  wake: () => void,
  everyMs: number,
  written = 0,
): Records {
  let sequence = written;
  let last = Date.now();
  let writing: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;

  /** Limits timed records in proportion to other events: a long run must not fill its history with them. */
  const affordable = (): boolean =>
    (sequence - written) * EVENTS_A_RECORD * 5 < workflowInfo().historyLength + FREE_EVENTS * 5;

  function write(): void {
    last = Date.now();
    sequence += 1;
    const record: RecordTasks = { ...of, sequence, rows: ledger.takeRows() };
    const options = bookkeeping(`record ${counted(record.rows.length, 'task')}`);
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
      const aged = Date.now() - last >= everyMs && affordable();
      if (ledger.pending >= ROWS || aged) write();
    },
    get sequence() {
      return sequence;
    },
    dueAt: () => (writing === null && ledger.pending > 0 && affordable() ? last + everyMs : null),
    async drain() {
      while (writing !== null || ledger.pending > 0) {
        if (writing === null) write();
        await writing;
      }
      if (failure !== null) throw failure.error;
    },
  };
}
