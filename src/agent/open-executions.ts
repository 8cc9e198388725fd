import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Execution } from './execution.js';
import { Journal, type Progress } from './journal.js';
import { isRunning, readBootId } from './process-identity.js';

export interface OpenExecution {
  readonly execution: Execution;
  readonly progress: Progress | undefined;
  /** Whether its supervisor is running; otherwise the next agent settles it. */
  readonly isSupervised: boolean;
}

/** Executions without a result in the journals of all nodes below a state folder. Read-only. */
export function openExecutions(stateDir: string): OpenExecution[] {
  const below = (folder: string) => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []);
  const folders = below(join(stateDir, 'nodes'))
    .flatMap((node) => below(join(node, 'runs')))
    .flatMap(below)
    .flatMap(below);
  const bootId = readBootId();
  return folders.flatMap((folder) => {
    const journal = new Journal(folder);
    const execution = journal.readResult() === undefined ? journal.readExecution() : undefined;
    if (execution === undefined) return [];
    const claim = journal.readClaim();
    return [
      { execution, progress: journal.readProgress(), isSupervised: claim !== undefined && isRunning(claim, bootId) },
    ];
  });
}
