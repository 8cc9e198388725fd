/**
 * Identities and trust. Does not export certificates and their requests (`./certificate-authority.js`,
 * `./certificate-request.js`), because they load ASN.1 libraries that an agent needs once a month.
 */
export { type ControlTarget, verifyControl } from './control-statement.ts';
export { fingerprintOf, newKeyPair, privateKeyPem, renewalTime } from './key-pair.ts';
export { executionHash, judgeGeneration } from './order.ts';
export type { PinnedKey } from './proof.ts';
export { hashOfToken, newEnrolmentToken, SigningKeys } from './signing-keys.ts';
export { type Verdict, verifyOrder } from './verify-order.ts';
