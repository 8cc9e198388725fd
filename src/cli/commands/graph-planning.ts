import type { Command } from 'commander';
import { registerGraphDefinitions } from './graph-definitions.js';
import { registerGraphPlan } from './graph-plan.js';
import { registerGraphSerialize } from './graph-serialize.js';

/** Adds the offline planning commands to `graph`: serialize, plan, check, draw, diff, each over `--input FILE`. */
export function registerGraphPlanning(graph: Command): void {
  registerGraphSerialize(graph);
  registerGraphPlan(graph);
  registerGraphDefinitions(graph);
}
