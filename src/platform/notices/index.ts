/** Where notices about runs are sent, and how. */
export { addressOf, type Receiver, ReceiversError, readReceivers } from './receivers.ts';
export { sendNotice, signatureOf } from './send.ts';
