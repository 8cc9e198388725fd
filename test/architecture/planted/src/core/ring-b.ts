import { one } from './ring-a.ts';
export const ring = one;
