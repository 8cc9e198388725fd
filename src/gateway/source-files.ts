import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { isUnderRoots } from '../agent/path-rules.js';
import type { SourceFiles } from './ports.js';

const LARGEST = 64 * 1024 * 1024;

class SourceError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Files of this machine that `copy_files` may take, and no others: a graph names its sources freely, and what this
 * machine has beside them (our keys, its own) is nobody's business.
 *
 * @param roots folders; a link that leads out of them is refused
 */
export function sourceFilesBelow(roots: readonly string[]): SourceFiles {
  const below = roots.filter(isAbsolute).map((root) => resolve(root));
  return {
    async read(path) {
      const real = await realpath(path);
      if (!isUnderRoots(real, below)) throw new SourceError('EACCES', `${path} is in no folder for sources`);
      const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const state = await file.stat();
        if (state.isDirectory()) throw new SourceError('EISDIR', `${path} is a folder`);
        if (!state.isFile()) throw new SourceError('EINVAL', `${path} is no regular file`);
        if (state.size > LARGEST) throw new SourceError('EFBIG', `${path} is larger than ${LARGEST} bytes`);
        return await file.readFile();
      } finally {
        await file.close();
      }
    },
  };
}
