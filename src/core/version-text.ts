import type { VersionGap } from './words.ts';

/** What a node lacks of what its cluster is built of, in words for people. */
const GAP_WORDS: Readonly<Record<VersionGap, string>> = {
  never: 'never deployed',
  unfinished: 'its last deployment did not finish',
  release: 'another release',
  plugins: 'other plugins',
  settings: 'earlier settings',
  documents: 'earlier documents',
  tasks: 'changed tasks have not run',
};

export const gapsText = (gaps: readonly VersionGap[]): string =>
  gaps.length === 0 ? 'up to date' : gaps.map((gap) => GAP_WORDS[gap]).join(', ');

/** The command that runs just the tasks that have changed and have not run. */
export function runMissed(cluster: number, missed: readonly { readonly graph: string }[], node?: number): string {
  const types = [...new Set(missed.map(({ graph }) => graph))].join(' ');
  return `sitewright graph execute --cluster ${cluster} --type ${types}${node === undefined ? '' : ` --node ${node}`} --missed`;
}

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
