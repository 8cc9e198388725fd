/** Rows of migration 0003. */
export interface NodeIdentityTables {
  enrolmentToken: EnrolmentTokenRow;
  nodeCertificate: NodeCertificateRow;
  signedOrder: SignedOrderRow;
}

export interface EnrolmentTokenRow {
  hash: string;
  site: string;
  node: string;
  createdAt: string;
  expiresAt: string;
  usedAt: string | null;
  usedByKey: string | null;
}

export interface NodeCertificateRow {
  fingerprint: string;
  site: string;
  node: string;
  issuedAt: string;
  expiresAt: string;
  revokedAt: string | null;
  reason: string | null;
}

export interface SignedOrderRow {
  run: string;
  node: string;
  task: string;
  generation: number;
  executionHash: string;
  signedAt: string;
}
