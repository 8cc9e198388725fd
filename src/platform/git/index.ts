export { type FetchedBranch, fetchBranch } from './fetch-branch.ts';
export { GitError, type GitLimits } from './run-git.ts';
