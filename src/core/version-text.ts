import type { VersionGap } from './words.ts';

/** What a node lacks of what its cluster is built of, in words for people. */
const GAP_WORDS: Readonly<Record<VersionGap, string>> = {
  never: 'never deployed',
  unfinished: 'its last deployment did not finish',
  release: 'another release',
  plugins: 'other plugins',
  settings: 'earlier settings',
  documents: 'earlier documents',
};

export const gapsText = (gaps: readonly VersionGap[]): string =>
  gaps.length === 0 ? 'up to date' : gaps.map((gap) => GAP_WORDS[gap]).join(', ');

interface Part {
  readonly name: string;
  readonly version: string;
  readonly package: { readonly name: string; readonly version: string } | null;
}

/** `web 2.0 (package webstack 1.1.0)`. */
export const partText = ({ name, version, package: from }: Part): string =>
  from === null || (from.name === name && from.version === version)
    ? `${name} ${version}`
    : `${name} ${version} (package ${from.name} ${from.version})`;

/** A revision of settings; before their first change there is none. */
export const settingsText = (revision: number | null): string =>
  revision === null ? 'as created' : `revision ${revision}`;
