/** What MAAS said of a node when it was seen last. */
export interface NodeFact {
  readonly site: string;
  readonly node: string;
  readonly systemId: string | null;
  readonly hostname: string | null;
  readonly status: string | null;
  readonly power: string | null;
  readonly tags: readonly string[];
  readonly zone: string | null;
  /** ISO 8601. How old the facts are is for the reader to judge. */
  readonly seenAt: string;
}

/** A node as MAAS shows it now. An absent field is one MAAS does not know: it becomes null. */
export interface NodeSighting {
  readonly node: string;
  readonly systemId?: string;
  readonly hostname?: string;
  readonly status?: string;
  readonly power?: string;
  readonly tags?: readonly string[];
  readonly zone?: string;
  readonly seenAt: string;
}

/** Last known facts, so that the state of nodes can be shown, marked as old, while MAAS is away. */
export interface NodeFactStore {
  /** Stores sightings, all or none. An older sighting never replaces a newer one. @throws `not-found` for the site. */
  put(site: string, sightings: readonly NodeSighting[]): Promise<void>;
  /** By node name, ascending; empty for a site never looked at. */
  list(site: string): Promise<readonly NodeFact[]>;
  /** Drops nodes that are no longer of the site. Answers how many were there. */
  forget(site: string, nodes: readonly string[]): Promise<number>;
}
