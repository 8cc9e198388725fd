/** A token of the API, as it may be shown: without its hash. */
export interface ApiToken {
  /** ULID; also part of the token itself. */
  readonly id: string;
  /** Of one token at a time: who acts, in the audit trail. */
  readonly name: string;
  readonly role: string;
  readonly createdAt: string;
  readonly createdBy: string;
  /** Null: never. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
  /** About: not every use is noted. */
  readonly lastUsedAt: string | null;
}

export interface NewApiToken {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** Of the token; the token itself is never stored. */
  readonly hash: string;
  readonly createdBy: string;
  readonly expiresAt?: string;
}

/** Tokens of the API. None is removed: the audit trail names them. */
export interface ApiTokenStore {
  /** @throws `conflict` when a token that is not revoked has the name, or the id is there already */
  add(token: NewApiToken): Promise<ApiToken>;
  /** With its hash, to compare with. Undefined for an id that is not there. */
  findById(id: string): Promise<(ApiToken & { readonly hash: string }) | undefined>;
  /** Newest first. */
  list(): Promise<readonly ApiToken[]>;
  /** Ends a token that is not revoked. @throws `not-found` when there is none of this id */
  revoke(id: string, by: string, at: string): Promise<ApiToken>;
  /** Notes a use. */
  noteUse(id: string, at: string): Promise<void>;
}
