export { readFileSync as read } from 'node:fs';
