import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { given } from '../../core/data/given.ts';
import {
  branchProblem,
  folderProblem,
  type GitSource,
  gitHostOf,
  gitUrlProblem,
  isAllowedHost,
} from '../../core/sources/git-source.ts';
import { GitError, type GitLimits, runGit } from './run-git.ts';

/** The documents at the tip of a branch. */
export interface FetchedBranch {
  /** Id of the commit. */
  readonly commit: string;
  readonly author: string;
  readonly message: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
}

const MAX_FILES = 10_000;

/**
 * Fetches the tip of a branch into a folder of its own and reads its YAML files: no history, no submodules, no links, and
 * nothing of it is checked out or run.
 *
 * @param credential `USER:PASSWORD` or a token for http, a private key for ssh
 * @throws GitError with the problem of the address, the repository or its files
 */
export async function fetchBranch(
  source: GitSource,
  credential: string | undefined,
  limits: GitLimits,
  cancelled?: AbortSignal,
): Promise<FetchedBranch> {
  const { url, branch, folder } = source;
  const problem =
    said('the address', gitUrlProblem(url)) ??
    said('the branch', branchProblem(branch)) ??
    said('the folder', folder === undefined ? undefined : folderProblem(folder));
  if (problem !== undefined) throw new GitError(problem);
  const host = gitHostOf(url);
  if (host !== undefined && !isAllowedHost(host, limits.hosts))
    throw new GitError(`the host ${host} is not among git.hosts, the setting of the worker for hosts of repositories`);
  const limit = AbortSignal.timeout(limits.timeoutMs);
  const signal = cancelled === undefined ? limit : AbortSignal.any([limit, cancelled]);
  const cwd = await mkdtemp(join(tmpdir(), 'sitewright-git-'));
  try {
    const env = credential === undefined ? configEnv([NO_REDIRECTS]) : await credentialEnv(url, credential, cwd);
    const git = (args: readonly string[], input?: string) => runGit(args, { cwd, signal, limits, ...given({ input }) });
    await git(['init', '--quiet', '--bare', 'repository']);
    const at = ['-C', 'repository'];
    const fetch = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--end-of-options'];
    // In one file, so that its limit is the limit of all.
    await runGit([...at, '-c', 'fetch.unpackLimit=1', ...fetch, url, `refs/heads/${branch}`], {
      cwd,
      signal,
      limits,
      env,
    });
    const about = (await git([...at, 'log', '-1', '--format=%H%x00%an%x00%s', 'FETCH_HEAD'])).toString('utf8');
    const [commit = '', author = '', message = ''] = about.trimEnd().split('\0');
    const listed = await git([
      ...at,
      'ls-tree',
      '-r',
      '-z',
      '--long',
      'FETCH_HEAD',
      ...(folder ? ['--', `${folder}/`] : []),
    ]);
    const documents = documentsIn(listed.toString('utf8'), limits);
    if (documents.length === 0)
      throw new GitError(`commit ${commit} has no YAML files${folder ? ` in ${folder}` : ''}`);
    const objects = await git([...at, 'cat-file', '--batch'], documents.map(({ id }) => `${id}\n`).join(''));
    return { commit, author, message, files: contents(documents, objects) };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

const said = (what: string, problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `${what} ${problem}`;

interface Listed {
  readonly id: string;
  readonly size: number;
  readonly name: string;
}

/** Regular files with names of YAML; links and submodules are left out. */
function documentsIn(listed: string, { maxBytes }: GitLimits): Listed[] {
  const files = listed.split('\0').flatMap((entry): Listed[] => {
    const found = /^100(?:644|755) blob ([0-9a-f]+) +(\d+)\t([\s\S]*\.ya?ml)$/.exec(entry);
    return found ? [{ id: found[1]!, size: Number(found[2]), name: found[3]! }] : [];
  });
  if (files.length > MAX_FILES) throw new GitError(`it has more than ${MAX_FILES} YAML files`);
  if (files.reduce((sum, { size }) => sum + size, 0) > maxBytes)
    throw new GitError(`its YAML files have more than ${maxBytes} bytes`);
  return files;
}

/** The answer of `cat-file --batch`: of each object a line, its bytes, and a line feed. */
function contents(documents: readonly Listed[], objects: Buffer): FetchedBranch['files'] {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let at = 0;
  return documents.map(({ name, size }) => {
    const start = objects.indexOf(0x0a, at) + 1;
    at = start + size + 1;
    try {
      return { name, text: decoder.decode(objects.subarray(start, start + size)) };
    } catch {
      throw new GitError(`${name} is not UTF-8`);
    }
  });
}

/** Another address must not get the credential, nor be asked at all: it was not checked. */
const NO_REDIRECTS = ['http.followRedirects', 'false'] as const;

function configEnv(config: readonly (readonly [string, string])[]): Record<string, string> {
  const entries = config.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(config.length)], ...entries]) as Record<string, string>;
}

/** How git gets a credential: in its environment or a file, never on a command line that others can list. */
async function credentialEnv(url: string, credential: string, folder: string): Promise<Record<string, string>> {
  if (/^https?:/.test(url)) {
    const pair = credential.includes(':') ? credential : `x-access-token:${credential}`;
    const header = `Authorization: Basic ${Buffer.from(pair).toString('base64')}`;
    return configEnv([[`http.${url}.extraHeader`, header], NO_REDIRECTS]);
  }
  const file = join(folder, 'key');
  await writeFile(file, `${credential.trimEnd()}\n`, { mode: 0o600 });
  return { GIT_SSH_COMMAND: `ssh -o BatchMode=yes -o IdentitiesOnly=yes -i '${file}'` };
}
