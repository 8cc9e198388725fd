import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A repository on this machine, with branch `main`. */
export interface GitRepository {
  readonly folder: string;
  readonly url: string;
  git(...args: readonly string[]): Promise<string>;
  /** Writes files and commits everything. Returns the id of the commit. */
  commit(
    files: readonly { readonly name: string; readonly text: string | Buffer }[],
    message?: string,
  ): Promise<string>;
  remove(): Promise<void>;
}

export async function gitRepository(): Promise<GitRepository> {
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-repository-'));
  const config = ['user.name=Eva', 'user.email=eva@example.org', 'commit.gpgsign=false'].flatMap((one) => ['-c', one]);
  const git = async (...args: readonly string[]) => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    return (await promisify(execFile)('git', [...config, ...args], { cwd: folder, env })).stdout.trim();
  };
  await git('init', '--quiet', '--initial-branch=main');
  return {
    folder,
    url: `file://${folder}`,
    git,
    async commit(files, message = 'change') {
      for (const { name, text } of files) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), text);
      }
      await git('add', '--all');
      await git('commit', '--quiet', '--allow-empty', '-m', message);
      return git('rev-parse', 'HEAD');
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
