// What is rehearsed stands in the address: the request of the run that was chosen, or 1 for the usual one.

import type { Body } from './api.ts';
import { fieldOf, textOf, textsOf } from './own-data.ts';
import { siteAt } from './router.ts';
import { some } from './words.ts';

export type SiteRequest = Body<'POST /sites/:site/rehearsals'>;
export type ClusterRequest = Body<'POST /clusters/:id/rehearsals'>;

const addressOf = (path: string, request: SiteRequest | ClusterRequest): string =>
  `${path}?rehearse=${encodeURIComponent(JSON.stringify(request))}`;

/** Where a run on a site is rehearsed as it was chosen. */
export const siteRehearsal = (site: string, request: SiteRequest): string => addressOf(siteAt(site), request);

/** Where a run of graphs is rehearsed as it was chosen. */
export const clusterRehearsal = (cluster: number, request: ClusterRequest): string =>
  addressOf(`/clusters/${cluster}`, request);

/** The request in an address; undefined: the usual one. It is what someone wrote: the API says what is wrong with it. */
export function requestIn(query: URLSearchParams): object | undefined {
  try {
    const given: unknown = JSON.parse(query.get('rehearse') ?? '');
    return typeof given === 'object' && given !== null ? given : undefined;
  } catch {
    return undefined;
  }
}

const FLAGS = {
  dry_run: 'dry run',
  noop_run: 'noop run',
  force: 'everything counts as changed',
  hold_on_failure: 'held on failure',
  erase: 'disks are erased',
  release_removed: 'machines of removed nodes are released',
} as const;

/** What a request chooses, in words. */
export function chosenIn(request: object, nameOf: (node: string) => string): string[] {
  const field = (name: string): unknown => fieldOf(request, name);
  const named = (name: string, text: (names: string) => string): string[] => {
    const names = textsOf(field(name));
    return names.length === 0 ? [] : [text(some(names))];
  };
  const graphs = [field('graphs') ?? []].flat().map((graph) => {
    const nodes = [fieldOf(graph, 'nodes') ?? []].flat().map((node) => nameOf(String(node)));
    const tasks = textsOf(fieldOf(graph, 'tasks'));
    return [
      `graph ${textOf(fieldOf(graph, 'type'))}`,
      ...(tasks.length > 0 ? [`only ${some(tasks)}`] : []),
      ...(nodes.length > 0 ? [`on ${some(nodes)}`] : []),
    ].join(' ');
  });
  const known = ['revision', 'sequence', 'from'] as const;
  return [
    ...known.flatMap((name) =>
      field(name) === undefined ? [] : [`${name === 'from' ? 'the rest of run' : name} ${String(field(name))}`],
    ),
    ...graphs,
    ...named('nodes', (names) => `only ${names}`),
    ...Object.entries(FLAGS).flatMap(([name, text]) => (field(name) === true ? [text] : [])),
    ...named('hold_before', (names) => `approval before ${names}`),
    ...named('adopt', (names) => `takes over ${names}`),
  ];
}
