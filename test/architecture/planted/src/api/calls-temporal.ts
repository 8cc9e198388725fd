export { Connection } from '@temporalio/client';
