import type { New, Stored } from '../tables.ts';

/** What MAAS last reported about a node. */
export type NodeFact = Stored<'nodeFact'>;

/** A node as MAAS shows it now. An absent field is unknown to MAAS and becomes null. */
export type NodeSighting = Omit<New<'nodeFact'>, 'site'>;

/** Last known facts, to show the state of nodes, marked as old, while MAAS is unreachable. */
export interface NodeFactStore {
  /** Stores sightings, all or none. An older sighting never replaces a newer one. @throws `not-found` for the site. */
  put(site: string, sightings: readonly NodeSighting[]): Promise<void>;
  /** By node name, ascending; empty for a site without sightings. */
  list(site: string): Promise<readonly NodeFact[]>;
}
