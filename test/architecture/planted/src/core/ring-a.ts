export { ring } from './ring-b.js';
export const one = 1;
