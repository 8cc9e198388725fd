export {
  CertificateAuthority,
  fingerprintOf,
  type IssuedCertificate,
  newKeyPair,
  privateKeyPem,
  renewalTime,
} from './certificate-authority.js';
export { createCertificateRequest, readCertificateRequest } from './certificate-request.js';
export { type ControlTarget, verifyControl } from './control-statement.js';
export { hashOfToken, newEnrolmentToken } from './enrolment-token.js';
export { type GenerationVerdict, judgeGeneration, type LatestAttempt } from './generation-rule.js';
export { executionHash, type OrderStatement } from './order.js';
export { type ControlToSign, OrderKeys, type OrderToSign } from './order-keys.js';
export type { PublicOrderKey } from './proof.js';
export { type OrderRejection, type OrderVerdict, verifyOrder } from './verify-order.js';
