// Supported Node.js versions, checked before anything else, for a clear message.

/** A test compares it with `engines` of package.json. */
export const MINIMUM_NODE = [24, 0];

/**
 * @param {string} [version] e.g. `24.21.0`
 * @returns {string | undefined} what is wrong and what to do, or nothing
 */
export function nodeVersionProblem(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = MINIMUM_NODE;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return undefined;
  return `Sitewright needs Node.js ${wantedMajor} or later; this is ${version}. Install Node.js 24 (long-term support) and try again.`;
}
