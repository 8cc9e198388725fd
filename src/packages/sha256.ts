import { createHash } from 'node:crypto';

/** 64 hexadecimal digits. */
export const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');
