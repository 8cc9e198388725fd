import type { Deep } from '../activities/deep.js';
export type NotAllowed = Deep;
