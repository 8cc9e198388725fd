/**
 * Identities and trust. Does not export certificates and their requests (`./certificate-authority.js`,
 * `./certificate-request.js`), because they load ASN.1 libraries that an agent needs once a month.
 */
export { type ControlTarget, verifyControl } from './control-statement.js';
export { hashOfToken, newEnrolmentToken } from './enrolment-token.js';
export { judgeGeneration, type LatestAttempt } from './generation-rule.js';
export { fingerprintOf, newKeyPair, privateKeyPem, renewalTime } from './key-pair.js';
export { executionHash } from './order.js';
export { OrderKeys } from './order-keys.js';
export type { PublicOrderKey } from './proof.js';
export { type OrderVerdict, verifyOrder } from './verify-order.js';
