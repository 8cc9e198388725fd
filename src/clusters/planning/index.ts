/**
 * Plans graphs without blocking the process: for runs to store, and for people and programs to see.
 *
 * ```ts
 * const planner = await openPlanner(settings.yaql.helpers);
 * const planned = await planner.plan('run', { sources, layers, request, states, surroundings: { masterIp } }, signal);
 * if (!planned.ok) refuse(planned.problems);
 * await store.plans.put({ ...planned.value, hash: planned.value.reference.hash });
 * ```
 */
export { loadTaskEngine } from './load-engine.ts';
export { openPlanner } from './open-planner.ts';
export { plannerHere } from './plan-here.ts';
export type { PlanForm, PlanForms, Planner } from './planning-work.ts';
export { type PreparedRun, planReferenceOf, type StoredReference } from './prepared-run.ts';
