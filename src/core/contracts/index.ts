/** Types of all that crosses a border, for `import type`: workflows and the command line load no schema. */
export type * from './graph-run.js';
export type * from './node-in-run.js';
export type * from './notice.js';
export type * from './problem.js';
export type * from './revision.js';
export type * from './run.js';
export type * from './schedule.js';
export type * from './service.js';
export type * from './site.js';
export type * from './site-drift.js';
export type * from './site-run.js';
export type * from './site-run-report.js';
export type * from './strategy.js';
export type * from './token.js';
export type * from './wire.js';
export type * from './worker.js';
