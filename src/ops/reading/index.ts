export { type Reader, readerHere } from './reader.ts';
export { type OpenReader, openReader } from './reading-thread.ts';
