import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { isUnderRoots } from '../agent/task-types/path-rules.ts';
import type { SourceFiles } from './ports.ts';

const LARGEST = 64 * 1024 * 1024;

class SourceError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Limits `copy_files` to these folders of this machine: a graph may name any source, but must not read other files,
 * such as our keys.
 *
 * @param roots folders; links that lead out of them are refused
 */
export function sourceFilesBelow(roots: readonly string[]): SourceFiles {
  const below = roots.filter(isAbsolute).map((root) => resolve(root));
  return {
    async read(path) {
      const real = await realpath(path);
      const outside = () => new SourceError('EACCES', `${path} is not in a source folder`);
      if (!isUnderRoots(real, below)) throw outside();
      const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        // A folder on the way may have become a link meanwhile.
        if (!isUnderRoots(await readlink(`/proc/self/fd/${file.fd}`), below)) throw outside();
        const state = await file.stat();
        if (state.isDirectory()) throw new SourceError('EISDIR', `${path} is a folder`);
        if (!state.isFile()) throw new SourceError('EINVAL', `${path} is not a regular file`);
        if (state.size > LARGEST) throw new SourceError('EFBIG', `${path} is larger than ${LARGEST} bytes`);
        return await file.readFile();
      } finally {
        await file.close();
      }
    },
  };
}
