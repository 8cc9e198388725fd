/**
 * Task graphs as data: layers merged, tasks placed on nodes by tags or roles, fields worked out, everything linked,
 * checked, shown. Pure: what is stored, sent or run is up to the caller.
 *
 * ```ts
 * const read = readPlanInput(JSON.parse(text));          // or build a PlanInput from what is stored
 * if (!read.ok) refuse(read.problems);
 * const planned = planGraph(read.input);
 * if (!planned.ok) refuse(planned.problems);
 * serializeGraph(planned.plan);                           // for executors of the Fuel line
 * ```
 */
export { readJsonText } from './input/json-text.js';
export { readPlanInput } from './input/read-input.js';
export { planGraph } from './plan-graph.js';
export { serializeGraph } from './result.js';
