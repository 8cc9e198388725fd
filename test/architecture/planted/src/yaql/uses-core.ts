export { one } from '../core/ring-a.js';
