import { one } from './ring-a.js';
export const ring = one;
