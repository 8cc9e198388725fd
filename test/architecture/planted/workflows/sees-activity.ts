import type { Deep } from '../activities/deep.ts';
export type NotAllowed = Deep;
