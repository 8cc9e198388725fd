import type { CliCommand } from '../command.js';
import type { Session } from '../session.js';
import { registerGraphDefinitions } from './graph-definitions.js';
import { registerGraphPlan } from './graph-plan.js';
import { registerGraphSerialize } from './graph-serialize.js';

/**
 * Adds the planning commands to `graph`: serialize, plan, check, draw, diff. All work offline with `--input`; plan,
 * check, draw and diff also on the API's graphs of a cluster.
 */
export function registerGraphPlanning(graph: CliCommand, session: Session): void {
  registerGraphSerialize(graph, session);
  registerGraphPlan(graph, session);
  registerGraphDefinitions(graph, session);
}
