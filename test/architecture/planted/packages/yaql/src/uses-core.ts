export { one } from '../../../src/core/ring-a.ts';
