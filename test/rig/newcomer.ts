import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The first hour of a newcomer, as on the pages: blocks of commands that are copied. */
const page = (name: string): string => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');
const sectionOf = (name: string, heading: string): string =>
  page(name).split(`\n## ${heading}\n`)[1]?.split(/^## /m)[0] ?? '';
const blocksOf = (text: string): readonly string[] =>
  [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);

const ownSite = blocksOf(sectionOf('docs/start/first-site.md', 'Your own site'));
const graphPage = sectionOf('docs/start/first-graph.md', 'A graph of your own, on this machine');
const [, name, text] = /```yaml file=(\S+)\n([\s\S]*?)```/.exec(graphPage) ?? [];
const [runOwnGraph, ownRelease] = blocksOf(graphPage);
const [rolloutUp, ...rollout] = blocksOf(page('docs/start/first-rollout.md'));
/** `NAME=VALUE… bin/sitewright up OPTIONS` */
const [rolloutSettings = '', rolloutOptions = ''] = rolloutUp!.trim().split(' bin/sitewright up ');

export const newcomer = {
  writeOwnSite: ownSite[0]!,
  /** Options of `sitewright up`, in the second terminal. */
  upOptions: ownSite[1]!.trim().split(' ').slice(2),
  deployOwnSite: ownSite[2]!,
  readmeGraph: blocksOf(sectionOf('docs/start/first-graph.md', 'A cluster'))[0]!,
  /** A file to save first. */
  ownGraph: { name: name!, text: text! },
  runOwnGraph: runOwnGraph!,
  ownRelease: ownRelease!,
  rollout: {
    settings: Object.fromEntries(rolloutSettings.split(' ').map((one) => one.split('=') as [string, string])),
    upOptions: rolloutOptions.split(' '),
    blocks: rollout,
  },
  scaling: blocksOf(page('docs/how-to/move-a-service.md')),
};
