/** Rows of migration 0004. */
export interface ApiTokenTables {
  apiToken: ApiTokenRow;
}

export interface ApiTokenRow {
  id: string;
  name: string;
  role: string;
  hash: string;
  createdAt: string;
  createdBy: string;
  expiresAt: string | null;
  revokedAt: string | null;
  revokedBy: string | null;
  lastUsedAt: string | null;
}
