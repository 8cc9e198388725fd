export { one } from '../core/ring-a.ts';
