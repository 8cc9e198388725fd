import { commitRevision } from '../../src/clusters/site-machines.ts';
import { isError } from '../../src/core/problems/diagnostic.ts';
import { RefusalError } from '../../src/core/problems/refusal.ts';
import { commitUrl, repositorySecretProblem } from '../../src/core/sources/git-source.ts';
import type { LoadedSite } from '../../src/documents/index.ts';
import { type FetchedBranch, fetchBranch } from '../../src/platform/git/fetch-branch.ts';
import { GitError } from '../../src/platform/git/run-git.ts';
import { StoreError } from '../../src/store/index.ts';
import type { FetchSourceAnswer, SiteActivities } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { proveClaim } from '../run/fencing.ts';
import { withHeartbeats } from '../run/heartbeats.ts';

/** Takes the documents of a site from the branch that it follows. */
export const sourceActivities = (deps: ActivityDependencies): Pick<SiteActivities, 'fetch_source'> => ({
  fetch_source: ({ site }) =>
    withHeartbeats(deps, async ({ signal }) => {
      await proveClaim(deps, { site });
      return fetchSource(deps, site, signal);
    }),
});

async function fetchSource(
  { store, git }: ActivityDependencies,
  site: string,
  signal: AbortSignal | undefined,
): Promise<FetchSourceAnswer> {
  const refuse = (message: string): FetchSourceAnswer => ({
    ok: false,
    failure: { kind: 'source-failed', site, message },
  });
  const { source, lastGoodRevision } = await store.sites.get(site);
  if (source === null) return refuse('the site follows no branch');
  if (git === undefined) return refuse('this worker cannot read repositories');
  let credential: string | undefined;
  if (source.credential !== undefined) {
    const problem = repositorySecretProblem(source.credential);
    if (problem !== undefined) return refuse(`the credential ${problem}`);
    const secret = await git.secrets.read(source.credential);
    if (secret.kind !== 'found')
      return refuse(secret.kind === 'unusable' ? secret.message : `there is no secret ${source.credential}`);
    credential = secret.value;
  }
  let fetched: FetchedBranch;
  try {
    fetched = await fetchBranch(source, credential, git.limits, signal);
  } catch (error) {
    if (!(error instanceof GitError) || signal?.aborted) throw error;
    return refuse(`${source.url} branch ${source.branch}: ${error.message}`);
  }
  const { commit, author, message, files } = fetched;
  let loaded: LoadedSite;
  try {
    loaded = await git.readSite(files);
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    return refuse(`commit ${commit} cannot be read: ${error.message}`);
  }
  const { site: resolved = null, diagnostics } = loaded;
  const errors = diagnostics.filter(isError);
  if (errors.length > 0) {
    const first = errors.slice(0, 5).map(({ file, line, message: text }) => `${file ?? ''}:${line ?? ''}: ${text}`);
    const more = errors.length > first.length ? `; and ${errors.length - first.length} more` : '';
    return refuse(`commit ${commit} is not valid: ${first.join('; ')}${more}`);
  }
  const by = author.replace(/\p{Cc}/gu, ' ').slice(0, 200);
  let stored: Awaited<ReturnType<typeof store.sites.addRevision>>;
  try {
    stored = await commitRevision(store, site, {
      files,
      resolved,
      diagnostics,
      message: message.slice(0, 10_000),
      commitId: commit,
      commitUrl: commitUrl(source.url, commit),
      ...(by.trim() === '' ? {} : { author: by }),
    });
  } catch (error) {
    if (!(error instanceof StoreError) || error.failure.kind !== 'invalid') throw error;
    return refuse(`commit ${commit} cannot be stored: ${error.message}`);
  }
  const { revision, created } = stored;
  if (created)
    await store.audit.append({
      actor: `git:${source.branch}`,
      action: 'site.commit',
      target: `site/${site}/revisions/${revision.number}`,
      details: { commit },
    });
  return { ok: true, revision: revision.number, commit, deployed: revision.number === lastGoodRevision };
}
