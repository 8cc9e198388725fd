import { GRAPH_RUN_KIND } from '../words.ts';

/** What a run has for itself while it is open. */
export type RunSubject = { readonly site: string } | { readonly cluster: number };

export const subjectText = (subject: RunSubject): string =>
  'site' in subject ? `site ${subject.site}` : `cluster ${subject.cluster}`;

/** How people call a run: by its number; by its id before a worker has opened it. */
export const numberOf = ({ number, id }: { readonly number: number | null; readonly id: string }): string =>
  String(number ?? id);

/** What a run or a schedule is for, as one name: a site's own, or `cluster 1`. */
export const subjectOf = ({
  site,
  cluster,
}: {
  readonly site: string | null;
  readonly cluster: number | null;
}): string => site ?? (cluster === null ? '?' : `cluster ${cluster}`);

/** The cluster of a graph run, a label of its row, and its transaction, which has the run's number. Null: it has none. */
export function graphRunOf({
  kind,
  number,
  labels,
}: {
  readonly kind: string;
  readonly number: number | null;
  readonly labels: Readonly<Record<string, string>>;
}) {
  if (kind !== GRAPH_RUN_KIND) return { cluster: null, transaction: null };
  return { cluster: labels.cluster === undefined ? null : Number(labels.cluster), transaction: number };
}
