/** Where notices about runs are sent, and how. */
export { addressOf, type Receiver, ReceiversError, readReceivers } from './receivers.js';
export { type Sending, sendNotice, signatureOf } from './send.js';
