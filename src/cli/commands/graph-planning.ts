import type { CliCommand } from '../command.ts';
import type { Session } from '../session.ts';
import { registerGraphDefinitions } from './graph-definitions.ts';
import { registerGraphPlan } from './graph-plan.ts';
import { registerGraphSerialize } from './graph-serialize.ts';

/**
 * Adds the planning commands to `graph`: serialize, plan, check, draw, diff. All work offline with `--input`; plan,
 * check, draw and diff also on the API's graphs of a cluster.
 */
export function registerGraphPlanning(graph: CliCommand, session: Session): void {
  registerGraphSerialize(graph, session);
  registerGraphPlan(graph, session);
  registerGraphDefinitions(graph, session);
}
