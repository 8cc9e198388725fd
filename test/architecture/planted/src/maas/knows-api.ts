export { Connection as read } from '../api/calls-temporal.ts';
