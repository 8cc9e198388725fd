import { didYouMean } from './text/did-you-mean.ts';

/** Things with ids and names; where one is accepted, the other is, too. */
export const NAMED_KINDS = ['cluster', 'node', 'release', 'plugin', 'sequence'] as const;
export type NamedKind = (typeof NAMED_KINDS)[number];

/** One of them. */
export interface Named {
  readonly id: number;
  readonly name: string;
  /** Other names by which people know it, such as a host name. */
  readonly also?: readonly string[];
}

export type NameAnswer =
  | { readonly ok: true; readonly id: number; readonly name: string }
  | { readonly ok: false; readonly why: 'unknown' | 'ambiguous'; readonly message: string; readonly hint: string };

/** A text with digits only is an id, also where something has such a name. */
export const isId = (text: string): boolean => /^[1-9]\d{0,9}$/.test(text);

/** The thing that a name means, or why none is meant, with the next step. */
export function idOfName(kind: NamedKind, name: string, known: readonly Named[]): NameAnswer {
  const exact = known.filter((one) => one.name === name);
  const found = exact.length > 0 ? exact : known.filter(({ also }) => also?.includes(name));
  const [only] = found;
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  if (only !== undefined && found.length === 1) return { ok: true, id: only.id, name: only.name };
  if (only !== undefined)
    return {
      ok: false,
      why: 'ambiguous',
      message: `there are ${found.length} ${kind}s named '${shown}'`,
      hint: `Give the id of one: ${found.map(({ id }) => id).join(', ')}.`,
    };
  const names = known.flatMap((one) => [one.name, ...(one.also ?? [])]);
  return {
    ok: false,
    why: 'unknown',
    message: `there is no ${kind} '${shown}'`,
    hint: didYouMean(name, names) ?? `See ids and names: sitewright ${kind} list`,
  };
}

/** How messages call a thing: by its id and, where it has one, its name: `node 7 (web-1)`. */
export const calledText = (
  kind: NamedKind,
  { id, name }: { readonly id: number; readonly name?: string | null },
): string => (name ? `${kind} ${id} (${name})` : `${kind} ${id}`);

/** The other names of a node: its host name, with and without the domain. */
export const namesOfNode = (hostname?: string | null): readonly string[] =>
  !hostname ? [] : [...new Set([hostname, hostname.split('.')[0]!])];

/** The other names of what has versions: `NAME==VERSION`, and as its package is called. */
export const namesOfVersion = (name: string, version: string): readonly string[] => [
  `${name} ${version}`,
  `${name}-${version}`,
  `${name}==${version}`,
];
