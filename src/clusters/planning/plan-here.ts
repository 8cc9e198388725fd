import type { Engine } from '@sitewright/yaql';
import { given } from '../../core/data/given.ts';
import { isTooLargeForRollouts } from '../../core/graph-run/cut.ts';
import { goesToMaster } from '../../core/task-types/index.ts';
import {
  explainPlan,
  type GraphProblem,
  MASTER,
  masterDenied,
  planDot,
  planText,
  serializedText,
} from '../../graph/index.ts';
import { findingsForRun } from '../checks/run-findings.ts';
import { type ClusterPlan, planCluster } from '../plan-cluster.ts';
import { plannedWaves } from '../role-rollouts.ts';
import { oldStatesOf } from '../state/old-states.ts';
import { nothingToDo } from './nothing-to-do.ts';
import type {
  ExplainedPlan,
  PlanForm,
  PlanForms,
  Planner,
  PlanningAnswer,
  PlanningWork,
  ReceivePrepared,
} from './planning-work.ts';
import { prepareRun } from './prepared-run.ts';

/** Makes a plan in the caller's thread, which it blocks. */
export async function planHere<Form extends PlanForm>(
  form: Form,
  { sources, layers, request, states, surroundings, checks, racks, masterAllowed, capacity, prefix }: PlanningWork,
  engine?: Engine,
  receive: ReceivePrepared = async () => undefined,
): Promise<PlanningAnswer<Form>> {
  const made = planCluster(sources, layers, request, {
    surroundings,
    ...(states === undefined ? {} : { old: oldStatesOf(sources, states) }),
    ...given({ checks, racks, engine }),
  });
  if (!made.ok) return made;
  const findings = findingsForRun(sources, [request]).map((one): GraphProblem => ({ ...one, at: [] }));
  const tooLarge = tooLargeForRollouts(made, capacity);
  const denied = masterAllowed ? [] : deniedOnMaster(made);
  if (form === 'run') {
    const refusing = [
      ...(request.force ? [] : findings.filter(({ severity }) => severity === 'error')),
      ...(request.force ? notForced(made) : []),
      ...denied,
      ...tooLarge,
    ];
    if (refusing.length > 0) return { ok: false, reason: 'refused', problems: refusing };
  }
  // A run warns its operator; informational findings are only in the explanation for people.
  const shown = form === 'run' ? findings.filter(({ severity }) => severity !== 'info') : findings;
  const planned = { ...made, problems: [...made.problems, ...shown, ...denied, ...tooLarge] };
  const make: { readonly [F in PlanForm]: () => PlanForms[F] | Promise<PlanForms[F]> } = {
    run: async () => {
      const { run, pieces } = prepareRun(sources, planned, capacity, prefix);
      for (const piece of pieces) await receive(piece);
      return run.reference;
    },
    explanation: () => explained(planned),
    text: () => explainedText(explained(planned)),
    dot: () => planDot(planned.plan),
    serialized: () => [...serializedText(planned.plan)].join(''),
  };
  return { ok: true, value: await make[form]() };
}

/** Rollouts need all of a graph in one workflow. */
function tooLargeForRollouts({ type, graph }: ClusterPlan, capacity: number | undefined): readonly GraphProblem[] {
  if (graph === null || !isTooLargeForRollouts(graph, capacity)) return [];
  const roles = graph.rollouts!.map(({ name }) => name);
  return [
    {
      severity: 'error',
      code: 'rollout.graph-too-large',
      message: `graph '${type}' has too many tasks for the rollout of role ${roles.join(', ')}: a graph with a rollout runs in one workflow`,
      hint: `Run it for fewer nodes at a time: sitewright graph execute --type ${type} --node NODE …; or remove the rollout.`,
      at: [],
    },
  ];
}

/** What an agent on `master` would have to run. Nothing forces it: an operator's graph is not to run there at all. */
function deniedOnMaster({ plan, graph }: ClusterPlan): readonly GraphProblem[] {
  if (graph === null) return [];
  const names = graph.nodeOf.flatMap((node, task) => {
    const { id, type } = plan.instances[task]!;
    return graph.nodes[node] === MASTER && graph.noWork[task] !== 1 && !goesToMaster(type) ? id : [];
  });
  return names.length === 0 ? [] : [masterDenied(names)];
}

/** A forced run in which no node can do anything has been asked for the impossible. */
function notForced(planned: ClusterPlan): readonly GraphProblem[] {
  const { notProvisioned } = planned;
  if (notProvisioned.length === 0 || nothingToDo(planned) === undefined) return [];
  const one = notProvisioned.length === 1;
  return [
    {
      severity: 'error',
      code: 'graph.not-provisioned',
      message: `nothing can be forced: node${one ? '' : 's'} ${notProvisioned.slice(0, 10).join(', ')}${notProvisioned.length > 10 ? ' …' : ''} ${one ? 'is' : 'are'} not provisioned`,
      hint: 'Provision them first: "Deploy changes", the graph provisioning, or site deploy. If a machine already has an operating system, record it: PUT /api/v1/nodes/ID {"status": "provisioned", "pending_addition": false}.',
      at: [],
    },
  ];
}

/** A planner without its own thread: for small plans, and for processes that may block. */
export function plannerHere(engine?: Engine): Planner {
  return {
    async plan(form, work, signal, receive) {
      signal?.throwIfAborted();
      return planHere(form, work, engine, receive);
    },
  };
}

const explained = ({ plan, input, graph, leftOut, problems }: ClusterPlan): ExplainedPlan => ({
  ...explainPlan(plan, input),
  ...plannedWaves(graph),
  left_out: leftOut,
  warnings: problems.map(({ at: _, ...one }) => one),
});

function explainedText(plan: ExplainedPlan): string {
  const left = plan.left_out.map(({ node, reason }) => `  ${node}: ${reason}\n`);
  return `${planText(plan)}${left.length === 0 ? '' : `\nNodes left out:\n${left.join('')}`}`;
}
