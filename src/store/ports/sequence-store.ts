import type { Json, JsonFields } from './page.js';

/** Types of graphs to run one after another. */
export interface SequenceRecord {
  readonly id: number;
  /** Unique within the release. */
  readonly name: string;
  readonly releaseId: number;
  /** As given, e.g. `{type: 'default'}`; at least one. */
  readonly graphs: readonly { readonly [key: string]: Json }[];
}

/** An id that does not exist is `not-found` for every call but `list` and `find`. */
export interface SequenceStore {
  /** @throws `conflict` when the release has one of this name; `not-found` for the release. */
  create(sequence: {
    readonly name: string;
    readonly releaseId: number;
    readonly graphs: readonly JsonFields[];
  }): Promise<SequenceRecord>;
  get(id: number): Promise<SequenceRecord>;
  find(releaseId: number, name: string): Promise<SequenceRecord | null>;
  /** By id, ascending; of one release, or of the release of a cluster. */
  list(filter?: { readonly releaseId?: number; readonly clusterId?: number }): Promise<readonly SequenceRecord[]>;
  /** @throws `conflict` when the name is taken. */
  update(
    id: number,
    change: { readonly name?: string; readonly graphs?: readonly JsonFields[] },
  ): Promise<SequenceRecord>;
  delete(id: number): Promise<void>;
}
