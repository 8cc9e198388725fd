import { accessSync, constants, mkdirSync } from 'node:fs';
import { SetupError } from '../../src/core/problems/refusal.ts';

/** This user cannot write to the folder of the agents' journals. */
export class StateFolderError extends SetupError {
  override readonly name = 'StateFolderError';

  constructor(message: string, options: ErrorOptions) {
    super('state-folder', message, {
      ...options,
      hint: 'Set agent.state_dir (SITEWRIGHT_AGENT_STATE_DIR, or --state-dir of agent run) to a folder that this user may write and that survives restarts, or run as root.',
    });
  }
}

/**
 * Creates the folder for the agents' journals, before they accept any task.
 * @throws StateFolderError
 */
export function openStateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = (code === undefined ? undefined : WHY[code]) ?? String(error);
    throw new StateFolderError(`agents cannot keep their journals in ${path} (agent.state_dir): ${why}`, {
      cause: error,
    });
  }
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'it is not a folder',
  ENOSPC: 'the disk is full',
};
