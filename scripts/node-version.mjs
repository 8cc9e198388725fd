// The Node versions we support, checked before anything else so that the message is ours.

/** Kept in step with `engines` of package.json by a test. */
export const MINIMUM_NODE = [20, 19];

/**
 * @param {string} [version] e.g. `20.19.4`
 * @returns {string | undefined} what is wrong and what to do, or nothing
 */
export function nodeVersionProblem(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = MINIMUM_NODE;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return `Sitewright needs Node.js ${MINIMUM_NODE.join('.')} or later; this is ${version}. Install Node.js 22 or 24 (long-term support) and try again.`;
}
