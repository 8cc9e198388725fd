/** Types of all that crosses a border, for `import type`: workflows and the command line load no schema. */
export type * from './graph-run.ts';
export type * from './node-in-run.ts';
export type * from './notice.ts';
export type * from './problem.ts';
export type * from './rehearsal.ts';
export type * from './revision.ts';
export type * from './run.ts';
export type * from './schedule.ts';
export type * from './service.ts';
export type * from './site.ts';
export type * from './site-drift.ts';
export type * from './site-run.ts';
export type * from './site-run-report.ts';
export type * from './strategy.ts';
export type * from './token.ts';
export type * from './wire.ts';
export type * from './worker.ts';
