import type { MaasClient } from './client.ts';
import { type DeployRequest, decideDeploy } from './deploy-machine.ts';
import { layoutDigest } from './layout/apply-layout.ts';
import type { Machine } from './machine.ts';
import type { MachineFailure } from './machine-outcome.ts';
import { noProgress, type Step } from './operation.ts';
import { decidePrepare, describedBy } from './prepare-machine.ts';
import { machineStatusName } from './status.ts';
import { decideNow, useOf } from './unmarked-machine.ts';

/** The effect of a deployment on a machine, with the reason. */
export interface DeploymentFate {
  readonly does: 'deploy' | 'leave' | 'refuse';
  readonly why: string;
}

type Target = Pick<DeployRequest, 'site' | 'distroSeries' | 'layout'>;

/** Decided as a new run would decide it, from one reading of the machine. `me`: the MAAS user of our key. */
export async function deploymentFate(
  client: MaasClient,
  machine: Machine,
  me: string,
  { site, distroSeries, layout }: Target,
): Promise<DeploymentFate> {
  const fresh = {
    me,
    site,
    failedForThisRequest: false,
    abortedForThisRequest: false,
    commissionedForThisRequest: false,
    described: describedBy(layout),
  };
  let found: ReturnType<typeof useOf> | undefined;
  const find = () => (found ??= useOf(client, machine, site, undefined));
  const prepared = await decideNow(
    (use, graceOver) => decidePrepare(machine, { ...fresh, use }, { ...noProgress, graceOver }),
    find,
  );
  if (prepared.do !== 'done') return fateOf(prepared, machine);
  const target = { series: distroSeries, layout: layout && layoutDigest(layout) };
  const deployed = await decideNow(
    (use, graceOver) =>
      decideDeploy(machine, { me, site, run: '', ...(use && { use }) }, target, { ...noProgress, graceOver }),
    find,
  );
  return fateOf(deployed, machine);
}

/** The fate of a node whose machine cannot be deployed. */
export const refusedFate = ({ message, hint }: MachineFailure): DeploymentFate => ({
  does: 'refuse',
  why: `${message}: ${hint}`,
});

function fateOf(step: Step, machine: Machine): DeploymentFate {
  if (step.do === 'fail') return refusedFate(step.failure);
  const warnings = 'warnings' in step ? (step.warnings ?? []).map(({ message }) => message) : [];
  const state = `its machine is ${machineStatusName(machine.status)}`;
  // A machine of our user that another program deployed is only marked.
  const isLeft = step.do === 'done' || (step.do === 'act' && warnings.length > 0 && step.action === 'annotate');
  return isLeft ? { does: 'leave', why: [state, ...warnings].join('; ') } : { does: 'deploy', why: state };
}
