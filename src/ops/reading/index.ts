export { type Reader, readerHere } from './reader.js';
export { type OpenReader, openReader } from './reading-thread.js';
