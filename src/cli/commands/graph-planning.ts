import type { Command } from 'commander';
import type { Session } from '../session.js';
import { registerGraphDefinitions } from './graph-definitions.js';
import { registerGraphPlan } from './graph-plan.js';
import { registerGraphSerialize } from './graph-serialize.js';

/**
 * Adds the planning commands to `graph`: serialize, plan, check, draw, diff. All work offline over `--input FILE`; plan,
 * check, draw and diff also on what the API keeps for a cluster.
 */
export function registerGraphPlanning(graph: Command, session: Session): void {
  registerGraphSerialize(graph);
  registerGraphPlan(graph, session);
  registerGraphDefinitions(graph, session);
}
