import { serveThread } from '../../platform/threads/serve-thread.ts';
import { loadTaskEngine } from './load-engine.ts';
import { planHere } from './plan-here.ts';
import type { PlanningData, PlanningRequest } from './planning-thread.ts';
import type { ReceivePrepared } from './planning-work.ts';

// The program of a planning thread.
serveThread(async ({ helpers }: PlanningData) => {
  const engine = await loadTaskEngine(helpers);
  return ({ form, work }: PlanningRequest, send: ReceivePrepared) => planHere(form, work, engine, send);
});
