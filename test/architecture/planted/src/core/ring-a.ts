export { ring } from './ring-b.ts';
export const one = 1;
