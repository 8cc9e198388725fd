import { GRAPH_RUN_KIND } from '../words.ts';

/** What a run has for itself while it is open. */
export type RunSubject = { readonly site: string } | { readonly cluster: number };

export const subjectText = (subject: RunSubject): string =>
  'site' in subject ? `site ${subject.site}` : `cluster ${subject.cluster}`;

/** Cluster and transaction of a graph run, which are labels of its row: runs are found by labels. Null: it has none. */
export function graphRunOf({
  kind,
  labels,
}: {
  readonly kind: string;
  readonly labels: Readonly<Record<string, string>>;
}) {
  const numbered = (text: string | undefined): number | null =>
    kind !== GRAPH_RUN_KIND || text === undefined ? null : Number(text);
  return { cluster: numbered(labels.cluster), transaction: numbered(labels.transaction) };
}
