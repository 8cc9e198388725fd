export { Connection as read } from '../../../src/api/calls-temporal.ts';
