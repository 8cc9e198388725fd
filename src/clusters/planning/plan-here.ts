import { explainPlan, planDot, planText, serializedText } from '../../graph/index.js';
import type { Engine } from '../../yaql/index.js';
import { type ClusterPlan, oldStatesOf, planCluster } from '../index.js';
import type { ExplainedPlan, PlanForm, PlanForms, Planner, PlanningAnswer, PlanningWork } from './planning-work.js';
import { prepareRun } from './prepared-run.js';

/** Makes a plan in the caller's thread, which it blocks. */
export function planHere<Form extends PlanForm>(
  form: Form,
  { sources, layers, request, states, surroundings, capacity }: PlanningWork,
  engine?: Engine,
): PlanningAnswer<Form> {
  const planned = planCluster(sources, layers, request, {
    surroundings,
    ...(states === undefined ? {} : { old: oldStatesOf(sources, states) }),
    ...(engine === undefined ? {} : { engine }),
  });
  if (!planned.ok) return planned;
  const make: { readonly [F in PlanForm]: () => PlanForms[F] } = {
    run: () => prepareRun(sources, planned, capacity),
    explanation: () => explained(planned),
    text: () => explainedText(explained(planned)),
    dot: () => planDot(planned.plan),
    serialized: () => [...serializedText(planned.plan)].join(''),
  };
  return { ok: true, value: make[form]() };
}

/** A planner without its own thread: for small plans, and for processes that may block. */
export function plannerHere(engine?: Engine): Planner {
  return {
    async plan(form, work, signal) {
      signal?.throwIfAborted();
      return planHere(form, work, engine);
    },
  };
}

const explained = ({ plan, input, leftOut, problems }: ClusterPlan): ExplainedPlan => ({
  ...explainPlan(plan, input),
  left_out: leftOut,
  warnings: problems.map(({ at: _, ...one }) => one),
});

function explainedText(plan: ExplainedPlan): string {
  const left = plan.left_out.map(({ node, reason }) => `  ${node}: ${reason}\n`);
  return `${planText(plan)}${left.length === 0 ? '' : `\nNodes left out:\n${left.join('')}`}`;
}
