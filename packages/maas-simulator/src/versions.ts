/**
 * Versions whose answers differ for a client. 3.6 is as recorded from a real 3.6.5, 3.8 as the region API of 3.8.0 beta 6 answered the same
 * requests; what 4.0 does differently was read in the sources of its line, and never run.
 */
export const maasVersions = ['3.6', '3.8', '4.0'] as const;
export type MaasVersion = (typeof maasVersions)[number];

/** What `version/` and the region controller say. */
const releases: Readonly<Record<MaasVersion, string>> = { '3.6': '3.6.5', '3.8': '3.8.0', '4.0': '4.0.0' };

/** Where versions differ, by what differs. */
export const versionTraits = (version: MaasVersion) => ({
  release: releases[version],
  /** Groups have rights (OpenFGA), so that users who are no administrators may have some; refusals name the right. */
  hasEntitlements: version !== '3.6',
  /** A subnet inside another, or around it, is refused. */
  refusesOverlaps: version !== '3.6',
  /** A bridge has one parent or several. */
  maySpanParents: version !== '3.6',
  hasDeploymentResults: version === '4.0',
  isDpuShown: version === '4.0',
  /** Virtual machines of MAAS' own are gone. */
  hasPods: version !== '4.0',
  /** A header without one of the six members, or with a timestamp that is no number, is refused by itself. */
  isHeaderStrict: version === '4.0',
});
