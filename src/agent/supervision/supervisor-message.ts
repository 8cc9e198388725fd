import type { TaskFailure } from '../journal/result.ts';
import type { Machine } from '../journal/settle.ts';

/**
 * The message of the agent to a supervisor, once, on its standard input. It contains values of secrets, so it is never
 * written to a file; everything else the supervisor needs is in the journal.
 */
export interface SupervisorMessage {
  /** The execution's folder. */
  readonly folder: string;
  readonly lockFile: string;
  readonly lockWaitSec: number;
  readonly machine: Machine;
  readonly pathRoots: readonly string[];
  readonly rebootCommand: readonly [string, ...string[]];
  readonly taskPath: string;
  /** Values by reference. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Fetched content of folders, by hash; shared by the node's executions. */
  readonly contentFolder: string;
  /** Content of sources by path, of a folder the list of its files, or why it could not be read. */
  readonly sources: Readonly<Record<string, { readonly base64: string } | { readonly failure: TaskFailure }>>;
}
