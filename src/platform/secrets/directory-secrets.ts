import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isSecretReference, type SecretAnswer, type SecretProvider } from './secret-provider.ts';
import { whyNotPrivate } from './why-not-private.ts';

const LARGEST = 1024 * 1024;

/**
 * Secrets as files in a folder: `db/password` is the file with that path. Each must be a regular file that
 * `whyNotPrivate` finds private (mode 600), and no folder of its path may be a link. Strips one line feed at the end.
 */
export function directorySecrets(folder: string): SecretProvider {
  const root = resolve(folder);
  return {
    name: `folder ${root}`,
    async read(ref): Promise<SecretAnswer> {
      if (!isSecretReference(ref)) return { kind: 'absent' };
      const parts = ref.split('/');
      for (let depth = 1; depth < parts.length; depth++) {
        const problem = await folderProblem(join(root, ...parts.slice(0, depth)));
        if (problem !== undefined) return problem;
      }
      return await readSecretFile(join(root, ...parts));
    },
  };
}

const unusable = (message: string): SecretAnswer => ({ kind: 'unusable', message });

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';

async function folderProblem(path: string): Promise<SecretAnswer | undefined> {
  try {
    return (await lstat(path)).isDirectory() ? undefined : unusable(`${path} is not a folder`);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? { kind: 'absent' } : unusable(`${path} cannot be read (${codeOf(error)})`);
  }
}

async function readSecretFile(path: string): Promise<SecretAnswer> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const state = await file.stat();
      if (!state.isFile()) return unusable(`${path} is not a regular file`);
      const why = whyNotPrivate(path, state);
      if (why !== undefined) return unusable(`${path} ${why.what}: ${why.fix}`);
      if (state.size > LARGEST) return unusable(`${path} is larger than ${LARGEST} bytes`);
      return { kind: 'found', value: (await file.readFile('utf8')).replace(/\r?\n$/, '') };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return { kind: 'absent' };
    return unusable(code === 'ELOOP' ? `${path} is a link` : `${path} cannot be read (${code})`);
  }
}
