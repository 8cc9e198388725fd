import type { SuccessCriteria } from '../../src/core/contracts/site-run.ts';
import type { SimulationInput, SimulationResult } from '../../src/core/deployment/simulate.ts';

type Finished = Exclude<SimulationResult, { rejected: readonly string[] }>;
type Stage = 'NOT_STARTED' | 'PREPARED' | 'DEPLOYED' | 'FAILED';

/**
 * Judges a simulation by the rules of docs/explain/design.md#spec-5 alone, written apart from src/core on purpose: walks the
 * calls in the order they were made and reports every way in which they, or the final stages, break a rule.
 */
export function illegalitiesOf(
  input: SimulationInput,
  groupNodes: Readonly<Record<string, readonly string[]>>,
  result: Finished,
): string[] {
  const found: string[] = [];
  const groups = input.target_nodes
    ? [{ name: 'target-group', critical: true, depends_on: [], success_criteria: { percent_successful_nodes: 100 } }]
    : (input.strategy?.groups ?? [
        { name: 'default', critical: true, depends_on: [], success_criteria: { percent_successful_nodes: 100 } },
      ]);
  const byName = new Map(groups.map((group) => [group.name, group]));
  const node = new Map<string, Stage>(
    Object.values(groupNodes)
      .flat()
      .map((name) => [name, 'NOT_STARTED']),
  );
  const group = new Map<string, Stage>(groups.map(({ name }) => [name, 'NOT_STARTED']));
  const calls = [...result.calls];
  const outcomeOf = (name: string, step: 'prepare' | 'deploy') =>
    (Object.hasOwn(input.outcomes ?? {}, name) ? input.outcomes?.[name]?.[step] : undefined) ?? 'success';

  const criteriaMet = (name: string, good: readonly Stage[]): boolean => {
    const {
      percent_successful_nodes: percent,
      minimum_successful_nodes: minimum,
      maximum_failed_nodes: maximum,
    } = (byName.get(name)?.success_criteria ?? {}) as SuccessCriteria;
    const members = groupNodes[name] ?? [];
    const successes = members.filter((member) => good.includes(node.get(member)!)).length;
    if (
      percent !== undefined &&
      members.length > 0 &&
      BigInt(successes) * 100n < BigInt(percent) * BigInt(members.length)
    )
      return false;
    if (minimum !== undefined && successes < minimum) return false;
    return maximum === undefined || members.length - successes <= maximum;
  };

  for (const name of result.processed) {
    const members = groupNodes[name] ?? [];
    for (const dependency of byName.get(name)?.depends_on ?? []) {
      if (group.get(dependency) !== 'DEPLOYED') found.push(`${name} was processed before ${dependency} succeeded`);
    }
    if (group.get(name) !== 'NOT_STARTED') found.push(`${name} was processed twice`);
    for (const step of ['prepare', 'deploy'] as const) {
      if (group.get(name) === 'FAILED') break;
      const wanted = step === 'prepare' ? 'NOT_STARTED' : 'PREPARED';
      const due = members.filter((member) => node.get(member) === wanted).sort();
      let timedOut = false;
      if (due.length > 0) {
        const call = calls.shift();
        if (call?.group !== name || call.step !== step || call.nodes.join() !== due.join()) {
          found.push(`expected ${step} of ${name} with ${due.join()}, saw ${JSON.stringify(call)}`);
        }
        for (const member of due) {
          const outcome = outcomeOf(member, step);
          if (outcome === 'timeout') timedOut = true;
          node.set(member, outcome !== 'success' ? 'FAILED' : step === 'prepare' ? 'PREPARED' : 'DEPLOYED');
        }
        if ((call?.timed_out ?? false) !== timedOut) found.push(`${step} of ${name}: timed_out is wrong`);
      }
      const good: Stage[] = step === 'prepare' ? ['PREPARED', 'DEPLOYED'] : ['DEPLOYED'];
      if (timedOut || !criteriaMet(name, good)) group.set(name, 'FAILED');
      else if (step === 'deploy') group.set(name, 'DEPLOYED');
    }
  }
  if (calls.length > 0) found.push(`unneeded calls: ${JSON.stringify(calls)}`);
  for (let changed = true; changed; ) {
    changed = false;
    for (const { name, depends_on } of groups) {
      if (group.get(name) === 'NOT_STARTED' && depends_on.some((dependency) => group.get(dependency) === 'FAILED')) {
        group.set(name, 'FAILED');
        changed = true;
      }
    }
  }
  for (const [name, stage] of group) {
    if (stage === 'NOT_STARTED') found.push(`${name} was never processed`);
    if (result.groups[name] !== stage) found.push(`group ${name} ended ${result.groups[name]}, rules say ${stage}`);
  }
  for (const [name, stage] of node) {
    if (result.nodes[name] !== stage) found.push(`node ${name} ended ${result.nodes[name]}, rules say ${stage}`);
  }
  const critical = groups.some(({ name, critical }) => critical && group.get(name) === 'FAILED');
  if (result.halts !== critical) found.push(`halts is ${result.halts}`);
  return found;
}
