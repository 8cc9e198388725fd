import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { unlessUnreadable } from '../../platform/files/durable-file.ts';
import { isRunning, readBootId } from '../../platform/processes/process-identity.ts';
import type { Execution } from './execution.ts';
import { Journal, type Progress } from './journal.ts';

interface OpenExecution {
  readonly execution: Execution;
  readonly progress: Progress | undefined;
  /** Whether its supervisor is running; otherwise the next agent settles it. */
  readonly isSupervised: boolean;
}

/** Folders in a folder; none if it cannot be read. */
export function foldersBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}

/** The folders of all executions of a node. */
export const executionFolders = (node: string): string[] =>
  foldersBelow(join(node, 'runs')).flatMap(foldersBelow).flatMap(foldersBelow);

/** Executions without a result in the journals of all nodes below a state folder. Read-only. */
export function openExecutions(stateDir: string): OpenExecution[] {
  const bootId = readBootId();
  return foldersBelow(join(stateDir, 'nodes'))
    .flatMap(executionFolders)
    .flatMap((folder) => {
      const journal = new Journal(folder);
      const execution = unlessUnreadable(() =>
        journal.readResult() === undefined ? journal.readExecution() : undefined,
      );
      if (execution === undefined) return [];
      const claim = unlessUnreadable(() => journal.readClaim());
      return [
        { execution, progress: journal.readProgress(), isSupervised: claim !== undefined && isRunning(claim, bootId) },
      ];
    });
}
