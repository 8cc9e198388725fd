import type { Change, New, Stored } from '../tables.ts';

/** Graph types to run one after another. */
export type SequenceRecord = Stored<'graphSequence'>;

export type NewSequence = New<'graphSequence'>;

/** An unknown id is `not-found` for every call but `list` and `find`. */
export interface SequenceStore {
  /** @throws `conflict` when the release has a sequence of this name; `not-found` for the release. */
  create(sequence: NewSequence): Promise<SequenceRecord>;
  get(id: number): Promise<SequenceRecord>;
  find(releaseId: number, name: string): Promise<SequenceRecord | null>;
  /** By id, ascending; of one release, or of the release of a cluster. */
  list(filter?: { readonly releaseId?: number; readonly clusterId?: number }): Promise<readonly SequenceRecord[]>;
  /** @throws `conflict` when the name is taken. */
  update(id: number, change: Omit<Change<'graphSequence'>, 'releaseId'>): Promise<SequenceRecord>;
  delete(id: number): Promise<void>;
}
