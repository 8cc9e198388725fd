export { type FetchedBranch, fetchBranch } from './fetch-branch.js';
export { GitError, type GitLimits } from './run-git.js';
