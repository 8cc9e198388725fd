import type { New, Stored } from '../tables.js';

/** What MAAS said of a node when it was seen last. */
export type NodeFact = Stored<'nodeFact'>;

/** A node as MAAS shows it now. An absent field is one MAAS does not know: it becomes null. */
export type NodeSighting = Omit<New<'nodeFact'>, 'site'>;

/** Last known facts, so that the state of nodes can be shown, marked as old, while MAAS is away. */
export interface NodeFactStore {
  /** Stores sightings, all or none. An older sighting never replaces a newer one. @throws `not-found` for the site. */
  put(site: string, sightings: readonly NodeSighting[]): Promise<void>;
  /** By node name, ascending; empty for a site never looked at. */
  list(site: string): Promise<readonly NodeFact[]>;
  /** Drops nodes that are no longer of the site. Answers how many were there. */
  forget(site: string, nodes: readonly string[]): Promise<number>;
}
