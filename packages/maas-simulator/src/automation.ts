import { MachineStatus } from '@sitewright/maas/status';
import type { Automation, Machine, Phase } from './records.ts';
import type { Simulation } from './simulation.ts';

/** The phase of each running state. */
export const phaseOf: Readonly<Partial<Record<number, Phase>>> = {
  [MachineStatus.Commissioning]: 'commission',
  [MachineStatus.Deploying]: 'deploy',
  [MachineStatus.DiskErasing]: 'erase',
  [MachineStatus.Releasing]: 'release',
  [MachineStatus.EnteringRescueMode]: 'rescue',
  [MachineStatus.ExitingRescueMode]: 'rescue',
  [MachineStatus.Testing]: 'test',
};

const phases: readonly Phase[] = ['commission', 'deploy', 'erase', 'release', 'rescue', 'test'];

/** A number in [0, 1) derived from a text, so that runs are reproducible. */
function stableShare(of: string): number {
  let hash = 2_166_136_261;
  for (const char of of) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_507);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/** True when any phase ends automatically. */
export const isAutomatic = (automation: Readonly<Automation>): boolean => Object.keys(automation.delays).length > 0;

/** Sets when a machine's running phase ends, if it ends automatically. */
export function beginPhase(sim: Simulation, machine: Readonly<Machine>): void {
  const { automation } = sim.region.control;
  const phase = phaseOf[machine.status];
  const delay = phase === undefined ? undefined : automation.delays[phase];
  if (phase === undefined || delay === undefined) return;
  const now = sim.clock.now();
  const swing = automation.jitter * (2 * stableShare(`${machine.id} ${phase} ${now}`) - 1);
  const row = sim.region.editMachine(machine);
  row.due = { phase, at: now + Math.max(0, Math.round(delay * (1 + swing))) };
  sim.schedule(row);
}

/** Whether the phase that ends now fails. Uses up one failure of a counted machine. */
export function takeFailure(sim: Simulation, machine: Readonly<Machine>, phase: Phase): boolean {
  const { automation } = sim.region.control;
  const names = [machine.hostname, machine.id];
  if (names.some((name) => automation.fail[phase]?.includes(name))) return true;
  const counted = automation.failTimes[phase] ?? {};
  const name = names.find((candidate) => (counted[candidate] ?? 0) > 0);
  if (name === undefined) return false;
  const left = { ...counted, [name]: (counted[name] ?? 0) - 1 };
  sim.region.editControl().automation = {
    ...automation,
    failTimes: { ...automation.failTimes, [phase]: left },
  };
  return true;
}

/** Reads an `auto` body: the automation, or its problems. */
export function readAutomation(
  current: Readonly<Automation>,
  body: Readonly<Record<string, unknown>>,
): { readonly automation: Automation } | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const next: Automation = { ...current };
  const delays: Partial<Record<Phase, number>> = { ...current.delays };
  for (const phase of phases) {
    const given = body[`${phase}_ms`];
    if (given === undefined) continue;
    if (given === null) delete delays[phase];
    else if (typeof given === 'number' && given >= 0) delays[phase] = given;
    else problems.push(`${phase}_ms must be a number of milliseconds, 0 or more, or null to turn it off`);
  }
  next.delays = delays;
  if (body.jitter !== undefined) {
    if (typeof body.jitter === 'number' && body.jitter >= 0 && body.jitter <= 1) next.jitter = body.jitter;
    else problems.push('jitter must be a fraction from 0 to 1');
  }
  if (body.discover !== undefined) next.discover = body.discover === true;
  if (typeof body.fail_comment === 'string') next.failComment = body.fail_comment;
  const perPhase = (key: 'fail' | 'fail_times', isRight: (value: unknown) => boolean, wanted: string): unknown => {
    const given = body[key];
    if (given === undefined) return undefined;
    if (given === null) return {};
    if (typeof given !== 'object' || Array.isArray(given)) {
      problems.push(`${key} must map phases (${phases.join(', ')}) to ${wanted}`);
      return undefined;
    }
    for (const [phase, value] of Object.entries(given)) {
      if (!phases.includes(phase as Phase))
        problems.push(`${key} has an unknown phase '${phase}'; use one of ${phases.join(', ')}`);
      else if (!isRight(value)) problems.push(`${key}.${phase} must be ${wanted}`);
    }
    return given;
  };
  const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === 'string');
  const isCounts = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((n) => Number.isInteger(n) && (n as number) >= 0);
  const fail = perPhase('fail', isNames, 'lists of hostnames');
  const failTimes = perPhase('fail_times', isCounts, 'numbers of failures by hostname');
  if (fail !== undefined) next.fail = fail as Automation['fail'];
  if (failTimes !== undefined) next.failTimes = failTimes as Automation['failTimes'];
  return problems.length > 0 ? { problems } : { automation: next };
}
