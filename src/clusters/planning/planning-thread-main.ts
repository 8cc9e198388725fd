import { serveThread } from '../../platform/threads/serve-thread.js';
import { loadTaskEngine } from './load-engine.js';
import { planHere } from './plan-here.js';
import type { PlanningData, PlanningRequest } from './planning-thread.js';

// The program of a planning thread.
serveThread(async ({ helpers }: PlanningData) => {
  const engine = await loadTaskEngine(helpers);
  return ({ form, work }: PlanningRequest) => planHere(form, work, engine);
});
