import { WITH_LIMITS, WITH_OVERRIDES } from './world/limits.ts';

/** Defects that the project had, each put back by one change of today's text. Where text moved on, the change is moved with it. */
export interface Bug {
  readonly name: string;
  /** The commit that mended it, or the entry of the changelog. */
  readonly mended: string;
  readonly world: 'site' | 'cluster';
  /** One that has found it: the first to be tried. */
  readonly seed?: number;
  /** Only seeds from here on have what it is about. */
  readonly from?: number;
  /** Of what a seed has much that may find it: others are left out. */
  readonly much?: readonly string[];
  readonly changes: readonly Change[];
  /** No tried seed finds it; the test in README.md does. */
  readonly isHidden?: true;
}

export interface Change {
  readonly file: string;
  /** Stands once in the file. */
  readonly is: string;
  readonly was: string;
}

/** @param where a world, and what its seeds must have much of to be tried */
const bug = (
  where: Bug['world'] | readonly [world: Bug['world'], ...much: string[]],
  mended: string,
  name: string,
  file: string,
  ...pairs: readonly (readonly [is: string, was: string])[]
): Bug => {
  const [world, ...much] = typeof where === 'string' ? ([where] as const) : where;
  return {
    name,
    mended,
    world,
    ...(much.length > 0 && { much }),
    changes: pairs.map(([is, was]) => ({ file, is, was })),
  };
};

/** Where two mechanisms hold the same: both must go. */
const also = (one: Bug, ...more: readonly Change[]): Bug => ({ ...one, changes: [...one.changes, ...more] });

const CHECKS = 'docs/reference/documents.md#checks';

/** A defect of the rules of rollouts. @param seed that finds it */
const ofWaves = (
  seed: number | null,
  name: string,
  file: string,
  ...pairs: readonly (readonly [is: string, was: string])[]
): Bug => ({
  ...bug('site', 'docs/reference/documents.md#waves', name, file, ...pairs),
  from: 100_000,
  ...(seed !== null && { seed }),
});

/** A defect of the rules of the rollouts of roles, which runs of graphs have. */
const ofRoles = (...given: Parameters<typeof ofWaves>): Bug => ({
  ...ofWaves(...given),
  mended: 'docs/how-to/roll-out-in-waves.md#in-runs-of-graphs',
  world: 'cluster',
  from: 300_000,
});

/** A defect of the rules of their checks. */
const ofChecks = (...given: Parameters<typeof ofWaves>): Bug => ({
  ...ofWaves(...given),
  mended: CHECKS,
  from: 200_000,
});

/** A defect of the limits of changes, and of permits. */
const ofLimits = (world: Bug['world'], ...given: Parameters<typeof ofWaves>): Bug => ({
  ...ofWaves(...given),
  ...{ mended: 'docs/how-to/limit-changes.md', world, from: WITH_LIMITS },
});

/** The same of those that came later: overrides, requests to MAAS, checks that nodes ask. */
const ofOverrides = (...given: Parameters<typeof ofLimits>): Bug => ({ ...ofLimits(...given), from: WITH_OVERRIDES });

const BOOKKEEPING = 'activities/run/bookkeeping.ts';
const MAY_TOUCH = 'src/core/permits/may-touch.ts';
const CALENDAR = 'src/core/permits/calendar.ts';

const hidden = (one: Bug): Bug => ({ ...one, isHidden: true });

export const BUGS: readonly Bug[] = [
  // Who may change what, and when.
  bug('site', '97170768', 'a try begins to change a machine while its run is paused', 'activities/site/node-calls.ts', [
    'await (isFirst ? assertMayStart : proveClaim)(deps, { site }, request.run_id);',
    'await proveClaim(deps, { site }, request.run_id);',
  ]),
  bug(
    ['site', 'terminate'],
    'b1594189',
    'a machine is changed without proof that its run has the site',
    'src/runs/claims.ts',
    [
      '    const claim = await fence.store.claims.holder(subject);\n    if (claim === null) throw claimLost',
      '    const claim = await fence.store.claims.holder(subject);\n    if (claim !== null) return claim;\n    if (claim === null) throw claimLost',
    ],
  ),
  bug(
    'site',
    'b1594189',
    'children of a terminated run abort machines of the next',
    'activities/site/node-calls.ts',
    [
      '          await proveClaim(deps, { site: request.site }, request.run_id);\n          const found',
      '          const found',
    ],
    ['              acting: async () => void (await proveClaim(deps, { site: request.site }, request.run_id)),\n', ''],
  ),
  also(
    bug(
      ['site', 'reset of one that ended'],
      'b1594189',
      'a reset of a run that has ended does its work again',
      'src/runs/claims.ts',
      ['  if (current?.runId !== me.runId) throw closedBefore(subject, { runId });\n', ''],
    ),
    // The store holds it, too, since claims have generations.
    {
      file: 'src/store/queries/claims.ts',
      is: '  return row.sequence >= CLOSING ? null : Math',
      was: '  return row.sequence < 0 * CLOSING ? null : Math',
    },
  ),
  bug(
    'site',
    'b1594189',
    'records of a reset run are older than those of the execution before',
    'src/store/queries/run-sequence.ts',
    ['(generation - 1) * OF_ONE_CLAIM + sequence;', 'sequence + 0 * generation;'],
  ),
  bug('site', 'b1594189', 'a second try of the end of a run fails: its claim is gone', 'src/runs/claims.ts', [
    '  if (known.sequence < CLOSING) return',
    '  if (known.sequence >= 0) return',
  ]),
  bug(
    'site',
    'f3ab4acf',
    'a claim is not taken over by the execution that a reset puts in place',
    'src/runs/claims.ts',
    [
      '  if (me.workflowId === workflowId) return current.runId === me.runId ? current.runId : null;',
      '  if (me.workflowId === workflowId) return null;',
    ],
  ),
  bug('site', 'src/runs/claims.ts', 'a second run takes a site from one that is open', 'src/runs/claims.ts', [
    '    } else if ((await execution(other.workflowId, other.runId))?.isOpen) return other;\n',
    '    }\n',
  ]),
  bug('site', 'src/store/queries/runs.ts', 'the end of a run leaves its claim', 'src/store/queries/runs.ts', [
    '      if (!(await releaseClaim(transaction, subject, { workflowId: run.workflowId, runId: run.id }, generation)))\n        return null;\n',
    '',
  ]),
  // How runs begin and end.
  bug(['site', 'pause'], '57bac531', 'a paused run ends by itself', 'workflows/run/run.ts', [
    "    if (control.paused && progress.failure?.kind !== 'claim-lost') await control.mayStart();\n",
    '',
  ]),
  bug('site', 'workflows/run/run.ts', 'a run ends without answers to accepted requests', 'workflows/run/run.ts', [
    '      await condition(allHandlersFinished);\n',
    '      if (opened.ok) await condition(allHandlersFinished);\n',
  ]),
  bug(['site', 'terminate'], '332ea3ee', 'rows of terminated runs stay open for ever', 'src/runs/life.ts', [
    '    await closeLost(store, run, ended!);\n',
    '',
  ]),
  bug('site', '1b9fe29c', 'a run fails when a slice of its nodes ends without a result', 'workflows/site/call.ts', [
    '  if (type === CLAIM_LOST) throw error;\n',
    '  if (type !== undefined) throw error;\n',
  ]),
  bug('site', '1b9fe29c', 'a slice that someone terminates leaves its deployments to MAAS', 'workflows/site/call.ts', [
    '    if (orphans.length === 0) return;\n',
    '    if (orphans.length >= 0) return;\n',
  ]),
  bug('site', '1b9fe29c', 'nodes of a slice that someone ends have no result', 'workflows/site/call.ts', [
    '  if (cancelled) return null;\n  if (lost !== undefined) return lost;',
    '  if (cancelled || stopping || lost !== undefined) return null;',
  ]),
  hidden(
    bug(
      ['site', 'retry_node', 'pause', 'cancel'],
      '2026-11-26: cancelled while a retry waited for the end of a pause',
      'a cancelled run stops for good while a retry waits for the end of a pause',
      'workflows/site/baremetal.ts',
      [
        'void CancellationScope.nonCancellable(() => this.#of.run.control.mayStart()).then(() => {',
        'void this.#of.run.control.mayStart().then(() => {',
      ],
    ),
  ),
  hidden(
    bug(
      ['site', 'retry_node', 'cancel'],
      '37329c7b',
      'the cancellation of a run interrupts the retry of a node, with its abort',
      'workflows/site/baremetal.ts',
      ['void CancellationScope.nonCancellable(() => this.#begin(node, index));', 'void this.#begin(node, index);'],
    ),
  ),
  bug(
    ['site', 'retry_node', 'abort'],
    '37329c7b',
    'a node is retried while the step before is still being aborted',
    'workflows/site/baremetal.ts',
    ['this.#open.size < this.#limit && !this.settling.includes(index);', 'this.#open.size < this.#limit;'],
  ),
  bug(['site', 'garbage'], '6bbe00ea', 'a signal with a malformed payload blocks its run', 'workflows/run/border.ts', [
    '      if (request !== undefined) handle(request);\n    };\n    setHandler(defineSignal',
    '      handle(payloads[0]);\n    };\n    setHandler(defineSignal',
  ]),
  hidden(
    bug(
      ['cluster', 'pause', 'resume'],
      '0ccf5804',
      'a run that is resumed by another worker decides otherwise',
      'workflows/run/border.ts',
      [
        '      return afterResults().then(() => {\n        validate?.(request);\n        return handle(request);\n      });',
        '      return handle(request);',
      ],
    ),
  ),
  bug('site', 'b2ea889a', 'a group that is held starts without approval', 'workflows/site/baremetal.ts', [
    'nextCall(this.state, Date.now(), undecided(run.progress.holds));',
    'nextCall(this.state, Date.now(), []);',
  ]),
  bug(
    ['site', 'pause'],
    'docs/explain/design.md#pausing',
    'a call starts more nodes while its run is paused',
    'workflows/site/call.ts',
    [
      'while (!control.paused && !control.stopping && running.size < limit && mayStart()) {',
      'while (!control.stopping && running.size < limit && mayStart()) {',
    ],
  ),
  bug(
    'site',
    'docs/explain/design.md#failures-are-results',
    'an outage fails a healthy node: retries end after three',
    'workflows/run/activity-options.ts',
    [
      "const RETRY: NonNullable<ActivityOptions['retry']> = {\n  initialInterval: '1 second',",
      "const RETRY: NonNullable<ActivityOptions['retry']> = {\n  maximumAttempts: 3,\n  initialInterval: '1 second',",
    ],
  ),
  // What is done to machines.
  bug(
    'site',
    '2026-11: no machine is deployed without the marker of its site',
    'a machine is deployed before it has its marker',
    'packages/maas/src/deploy-machine.ts',
    [
      "return { do: 'act', action: !isMine ? 'annotate' : isConfigured ? 'deploy' : 'configure' };",
      "return { do: 'act', action: isConfigured ? 'deploy' : 'configure' };",
    ],
  ),
  bug(
    ['site', 'redeploy_nodes', 'reset'],
    'd48ad0ef',
    'a reset run releases a machine that it has released and deployed since',
    'packages/maas/src/release-machine.ts',
    [
      '  if (isBackInService(machine, claim, wanted.run)) {',
      '  if (status < 0 && isBackInService(machine, claim, wanted.run)) {',
    ],
  ),
  bug(
    'site',
    'ce7b9381',
    'a machine that a person releases while it deploys is deployed again',
    'packages/maas/src/deploy-machine.ts',
    [
      '  if (wasTaken && !isMine && !keptStatuses.has(status)) {',
      '  if (status < 0 && wasTaken && !keptStatuses.has(status)) {',
    ],
    ['    if (!isMine && wasMarked)\n', '    if (status < 0 && wasMarked)\n'],
  ),
  bug(
    'site',
    'ce7b9381',
    'a commissioning that a person aborts is begun again',
    'packages/maas/src/prepare-machine.ts',
    ['      if (hasCommissioned || claim.abortedForThisRequest) return fail(', '      if (status < 0) return fail('],
  ),
  hidden(
    bug(
      ['site', 'kill all', 'prepare'],
      '5d3ae31f',
      'a commissioning that failed is begun again by the next try',
      'packages/maas/src/prepare-machine.ts',
      [
        "failedForThisRequest: before === 'failed',",
        "failedForThisRequest: before === 'commissioned' && before !== before,",
      ],
    ),
  ),
  hidden(
    bug(
      ['site', 'maas taken'],
      '86bad31c',
      'a broken machine of another owner is commissioned',
      'packages/maas/src/prepare-machine.ts',
      [
        '      const held = refusal();\n      if (held) return held;\n      const why = machine.errorDescription',
        '      const why = machine.errorDescription',
      ],
    ),
  ),
  bug(
    ['site', 'maas taken'],
    'packages/maas/src/machine-hold.ts',
    'a machine of another site counts as ours',
    'packages/maas/src/machine-hold.ts',
    ["  return marker.site === claim.site ? 'ours' : 'other-site';", "  return 'ours';"],
  ),
  {
    ...bug(
      'site',
      'packages/maas/src/release-machine.ts',
      'a machine of another user is released',
      'packages/maas/src/release-machine.ts',
      [
        "  if (hold === 'other-owner') return { do: 'fail', failure: otherOwner(machine) };\n  if (hold === 'other-site')",
        "  if (hold === 'other-site')",
      ],
    ),
    seed: 65,
  },
  bug(
    ['site', 'maas rename'],
    '827aadde',
    'a machine that was renamed is not found',
    'packages/maas/src/resolve-machine.ts',
    ['  if (known === undefined || named.some', '  if (known !== null || named.some'],
  ),
  bug(
    'site',
    'activities/site/load-plan.ts',
    'an update skips a node whose machine is not deployed',
    'activities/site/load-plan.ts',
    [
      "found.length === 1 && machine?.status === MachineStatus.Deployed && holdOf(machine, { me, site }) === 'ours'",
      'found.length === 1 && machine !== undefined && me !== site',
    ],
  ),
  bug(
    ['site', 'redeploy_nodes', 'maas lock'],
    '2026-11: redeploy_nodes checks all nodes before it releases the first',
    'a redeployment releases machines before it has checked all',
    'workflows/site/site-workflows.ts',
    ["      ...(run.kind === 'redeploy_nodes' && { release: true }),\n", ''],
  ),
  hidden(
    bug(
      ['site', 'stall', 'cancel'],
      '99010381',
      'a node is not aborted when the silence of its worker is noticed after its time was up',
      'workflows/site/call.ts',
      ["new Set(['cancelled', 'TimeoutFailure', IN_FLIGHT]);", "new Set(['cancelled', IN_FLIGHT]);"],
    ),
  ),
  bug(
    ['site', 'redeploy_nodes'],
    'packages/maas/src/operation.ts',
    'a release that was lost on the way is sent again at once, and reaches a machine that is in use again',
    'packages/maas/src/operation.ts',
    ['  settleMs: 30_000,', '  settleMs: 0,'],
  ),
  // What reports say.
  bug(
    ['site', 'redeploy_nodes'],
    'a8fdf22a',
    'a redeployment that was ended counts a bare machine as a success',
    'src/core/site-run/redeployed.ts',
    [
      "  if (outcome === undefined || outcome === 'failed') return [...released];",
      '  if (outcome !== null) return [...released];',
    ],
  ),
  hidden(
    bug(
      ['site', 'redeploy_nodes', 'cancel'],
      'a8fdf22a',
      'a release that had not begun counts as a success',
      'workflows/site/call.ts',
      [
        "  if (verb === 'release' && answer.found === 'deployed')\n    return {\n      ok: false,",
        "  if (verb === 'release' && answer.found === 'deployed')\n    return {\n      ok: true as boolean as false,",
      ],
    ),
  ),
  bug(
    ['site', 'retry_node'],
    'src/core/deployment/baremetal.ts',
    'a retried node fails by the deployment before',
    'activities/site/node-calls.ts',
    ['request.attempt > 1 ? `${request.run_id}#${request.attempt}` : request.run_id;', 'request.run_id;'],
  ),
  bug(
    'site',
    'workflows/site/site-run.ts',
    'a revision counts as deployed although a critical group failed',
    'workflows/site/site-run.ts',
    [
      '  return whole && good && baremetal !== undefined && !halts(baremetal);',
      '  return whole && baremetal !== undefined && (good || outcome !== null);',
    ],
  ),
  also(
    bug(
      ['site', 'cancel'],
      'workflows/site/site-run.ts',
      'nodes that changed since they were recorded are missing in the report',
      'workflows/site/site-run.ts',
      ['    if (rest.length > 0) await this.record(rest);\n', '    if (rest.length < 0) await this.record(rest);\n'],
    ),
    // A run that closes compares, since stores are restored.
    {
      file: 'activities/run/bookkeeping.ts',
      is: 'request.records !== digestOfRecords(records)',
      was: 'request.records.length < digestOfRecords(records).length',
    },
  ),
  // Runs of graphs.
  bug(['cluster', 'pause'], '0edcb228', 'a task starts while its run is paused', 'worker/parts/start-gate.ts', [
    '    if (paused !== null) throw new RunHeld(`the run is paused since ${paused.since}`);\n',
    '',
  ]),
  bug(['cluster', 'stop'], '0edcb228', 'a task starts while its run stops', 'worker/parts/start-gate.ts', [
    "    if (stopping) throw new OrderWithdrawn('the run was stopped before it started');\n",
    '',
  ]),
  bug(
    ['cluster', 'stop'],
    'c8884684',
    'a task that its node no longer starts counts as failed',
    'src/core/scheduler/apply.ts',
    ["      if (event.outcome === 'not_reached') withdraw(s, event.task);\n      else end", '      end'],
  ),
  bug(
    ['cluster', 'agent restarts over and over'],
    '1bc4edc6',
    'a task fails when its agent leaves: it is tried three times',
    'workflows/run/activity-options.ts',
    [
      "const FOLLOW_AGAIN: NonNullable<ActivityOptions['retry']> = {\n",
      "const FOLLOW_AGAIN: NonNullable<ActivityOptions['retry']> = {\n  maximumAttempts: 3,\n",
    ],
  ),
  bug(
    'cluster',
    '1bc4edc6',
    'a task that an agent had taken before it went offline counts as not taken',
    'workflows/graph/task-agents.ts',
    ['    if (!isKnownNot) return listener', '    if (!isKnownNot && times < 0) return listener'],
  ),
  bug('cluster', '004bb41b', 'a node without an agent stops the others', 'src/core/scheduler/propagation.ts', [
    's.lostOn[node] === s.absentOn[node] ? ABSENT : FAILING;',
    'ABSENT < 0 ? ABSENT : FAILING;',
  ]),
  bug(
    'cluster',
    '07aa890f',
    'parts that have continued as new are not cancelled, and the run waits for ever',
    'workflows/graph/parts.ts',
    ['    if (!this.#cancelling || !child.continued) return;', '    if (this.#cancelling || !child.continued) return;'],
  ),
  bug(
    ['cluster', 'reset'],
    'workflows/run/border.ts',
    'the parts of a run that was reset signal the execution before',
    'workflows/run/border.ts',
    [
      'await signalById(parent.workflowId, name, payload);',
      'await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(name, payload).catch(() => undefined);',
    ],
  ),
  bug(
    ['cluster', 'cancel of a part'],
    '1b9fe29c',
    'a part that someone cancels leaves its run open for ever',
    'workflows/graph/parts.ts',
    ['      if (lost && !control.cancelled && this.#broken === null) {', '      if (lost === null) {'],
    ['        this.#broken = { lost: `${lost.id} was cancelled` };', ''],
  ),
  bug(
    ['cluster', 'terminate', 'reset of one that ended'],
    'fbc0d437',
    'the transaction of a run that goes on after a reset stays ended',
    'src/runs/life.ts',
    ['  if (transaction !== null) await within.transactions.reopenGraphs(transaction).catch(unlessNotFound);\n', ''],
  ),
  bug('cluster', '332ea3ee', 'transactions of terminated runs stay open for ever', 'src/runs/life.ts', [
    '      await endGraphs(within, transaction, { outcome: end.outcome, endedAt }, graphsIn(shown)).catch(unlessNotFound);\n',
    '      await Promise.resolve();\n',
  ]),
  bug(
    'cluster',
    'b1594189',
    'a part records tasks of a cluster that its run has lost',
    'activities/graph/task-records.ts',
    ['const generation = await proveTransaction(deps, run);', 'const generation = 1;'],
  ),
  // On the nodes: journals, supervisors, and what the gateway lets them have.
  bug(
    ['cluster', 'power at a call'],
    '9b4766f8',
    'a power cut loses the folders of a journal',
    'src/agent/journal/journal.ts',
    ['depth < FOLDERS_ABOVE;', 'depth < 0 * FOLDERS_ABOVE;'],
  ),
  hidden(
    bug(
      ['cluster', 'power at a call'],
      '9b4766f8',
      'the name of the state folder is never synced',
      'src/agent/journal/journal.ts',
      ['depth < FOLDERS_ABOVE;', 'depth < FOLDERS_ABOVE - 1;'],
    ),
  ),
  hidden(
    bug(
      ['cluster', 'power at a call'],
      '9b4766f8',
      'a node that lost power while it enrolled cannot enrol',
      'worker/parts/own-credentials.ts',
      [
        '      rmSync(file, { force: true });\n      syncFolder(folder);\n      forgetEnrolment(folder);\n',
        '      forgetEnrolment(folder);\n      rmSync(file, { force: true });\n',
      ],
    ),
  ),
  hidden(
    bug(['cluster', 'slow', 'agent'], '1c2e2fda', 'two supervisors run one execution', 'src/agent/journal/journal.ts', [
      "    return createDurably(this.#path('claim.json'), JSON.stringify(identity));",
      "    replaceDurably(this.#path('claim.json'), JSON.stringify(identity));\n    return true;",
    ]),
  ),
  bug(
    ['cluster', 'power at a call'],
    '1c2e2fda',
    'the result of a task is written before its end',
    'src/agent/supervision/supervision.ts',
    [
      "    this.#record({ phase: 'running' });\n",
      "    this.#record({ phase: 'running' });\n    this.#journal.writeResult(resultWithout(this.#journal, this.#bootId, null));\n",
    ],
  ),
  bug(
    ['cluster', 'supervisor'],
    '1c2e2fda',
    'processes of a dead supervisor run on beside the next task',
    'src/agent/journal/settle.ts',
    ['  if (!rebooted) {', '  if (rebooted) {'],
  ),
  hidden(
    bug(
      ['cluster', 'reboot'],
      '1c2e2fda',
      'after a restart, another process with the number of a supervisor passes for it',
      'src/platform/processes/process-identity.ts',
      ['  if (identity.bootId !== bootId) return false;\n', ''],
    ),
  ),
  hidden(
    bug(
      ['cluster', 'terminate'],
      '1c2e2fda',
      'tasks of a node do not wait for each other',
      'src/agent/journal/node-lock.ts',
      ["waitSec > 0 ? ['--wait', String(waitSec)] : ['--nonblock'];", "waitSec >= 0 ? ['--nonblock'] : [];"],
      ['    if (answer === 0) return', '    if (answer === 0 || answer === 1) return'],
    ),
  ),
  bug('cluster', 'd2678eaa', 'a node with a revoked certificate gets orders', 'src/gateway/gateway-rules.ts', [
    '    if (revokedAt !== null) {',
    '    if (revokedAt !== null && node === site) {',
  ]),
  bug(
    ['cluster', 'pause'],
    '0edcb228',
    'the gateway signs orders of a run that is paused',
    'src/gateway/order-desk.ts',
    ['    await this.#parts.orders.mayStart(key.run);\n', ''],
  ),
  {
    ...bug(
      'cluster',
      'workflows/graph/task-agents.ts',
      'an order that no one took at its second try hides that its first had begun',
      'workflows/graph/task-agents.ts',
      ["  return cause.failure?.cause == null ? 'untaken' : 'tried';", "  return 'untaken';"],
    ),
    seed: 1206,
  },
  {
    ...bug(
      'cluster',
      'src/agent/task-types/task-runner.ts',
      'a task that is told to end at its limit, and ends with exit code 0, counts as a success',
      'src/agent/task-types/task-runner.ts',
      ['  if (told === 0 && endedItself) return end;', '  if (endedItself) return end;'],
    ),
    seed: 1000,
  },
  // Waves of a rollout.
  ofWaves(
    100_009,
    'a rollout stops at one failed node more than stop_at says',
    'src/core/rollout/next-wave.ts',
    ['limitOf(state, policy) - state.failed);', 'limitOf(state, policy) + 1 - state.failed);'],
    ['state.failed >= limitOf(state, policy)', 'state.failed > limitOf(state, policy)'],
  ),
  ofWaves(100_009, 'stop_at of a rollout is judged only at the end of a wave', 'src/core/rollout/next-wave.ts', [
    'limitOf(state, policy) - state.failed);',
    'limitOf(state, policy) + 1_000 - state.failed);',
  ]),
  hidden(
    ofWaves(
      null,
      'stop_at of a rollout counts only the failed nodes of its open wave',
      'src/core/deployment/rollout.ts',
      ['    failed: waves.flat()', '    failed: waves.slice(Math.max(0, rollout.opened - 1), rollout.opened).flat()'],
    ),
  ),
  ofWaves(100_001, 'nodes of waves that are not open start in a rollout', 'src/core/deployment/rollout.ts', [
    '(waves ?? []).slice(0, opened).flat();\n\n/** The nodes of the opened waves that',
    '(waves ?? []).slice(0, opened * waves!.length).flat();\n\n/** The nodes of the opened waves that',
  ]),
  ofWaves(
    100_007,
    'a wave of a rollout soaks from its beginning, not from its last result',
    'src/core/deployment/rollout.ts',
    ['=> Math.max(last, ended_at), rollout.openedAt)', '=> Math.max(last, 0 * ended_at), rollout.openedAt)'],
  ),
  ofWaves(100_007, 'nobody looks at the nodes of a rollout after a soak', 'src/core/rollout/next-wave.ts', [
    "    if (looked === null || looked.at < until) return { step: 'look' };\n    if (looked.unseen",
    '    if (looked?.unseen',
  ]),
  ofWaves(
    100_009,
    'a wave of a rollout opens though no node of the one before is well',
    'src/core/rollout/next-wave.ts',
    ["  if (opened > 0 && state.well === 0) return hold('unproven');\n", ''],
  ),
  hidden(
    ofWaves(null, 'the end of a soak of a rollout does not wake its run', 'workflows/site/baremetal.ts', [
      '      .run(() => sleep(Math.max(1, rest.until - Date.now()), { summary }))\n      .then(() => control.wake())',
      '      .run(() => sleep(Math.max(1, rest.until - Date.now()), { summary }))\n      .then(() => undefined)',
    ]),
  ),
  ofWaves(100_001, 'a promoted rollout goes on only when something else wakes its run', 'workflows/run/operators.ts', [
    '    rollouts.take({ action, at: isoTime(Date.now()), ...request });\n    run.control.wake();\n',
    '    rollouts.take({ action, at: isoTime(Date.now()), ...request });\n',
  ]),
  hidden(
    ofWaves(null, 'nodes without work make up the first waves of a rollout', 'src/core/deployment/rollout.ts', [
      "rollout.order.filter((node) => state.nodes[node]!.state !== 'success');",
      'rollout.order;',
    ]),
  ),
  hidden(
    ofWaves(null, 'a percentage of the nodes of a rollout is rounded up', 'src/core/rollout/waves.ts', [
      'Math.max(1, Math.floor((Number',
      'Math.max(1, Math.ceil((Number',
    ]),
  ),
  ofWaves(100_009, 'a run fails when a slice of a rollout is cancelled', 'workflows/site/call.ts', [
    '            void CancellationScope.nonCancellable(() => tellOfLimit(listener, control, child, follower));',
    '            void tellOfLimit(listener, control, child, follower);',
  ]),
  // Checks of a rollout.
  ofChecks(200_022, 'a check of a rollout without an answer counts as well', 'activities/check/run-check.ts', [
    "    if (verdict === 'well') continue;",
    "    if (verdict !== 'failed') continue;",
  ]),
  ofChecks(200_052, 'a rollout goes on though a check of its wave has failed', 'src/core/checks/wave-checks.ts', [
    "  if (each === 'wave') return { name, verdict, text, holds: true };",
    "  if (each === 'wave') return { name, verdict, text, holds: false };",
  ]),
  ofChecks(200_006, 'nodes whose checks of a rollout fail are still well', 'src/core/deployment/rollout.ts', [
    "      if (node?.state !== 'success' || !asked.has(number)) return next;",
    '      if (node !== undefined || !asked.has(number)) return next;',
  ]),
  hidden(
    ofChecks(null, 'checks of a rollout are not asked again after a retry', 'src/core/rollout/next-wave.ts', [
      "    if (checked === null || checked.at < until) return { step: 'check' };",
      "    if (checked === null) return { step: 'check' };",
    ]),
  ),
  ofChecks(200_006, 'checks of a rollout are well with any answer', 'src/core/checks/judge.ts', [
    "  if (ok === true) return { verdict: 'well', text };",
    "  if (ok !== null) return { verdict: 'well', text };",
  ]),
  // Rollouts of roles in runs of graphs.
  ofRoles(300_000, 'tasks on nodes of waves that are not open start', 'src/core/scheduler/propagation.ts', [
    '  s.held.has(s.graph.names[s.graph.nameOf[task]!]!) || isInLaterWave(s, task);',
    '  s.held.has(s.graph.names[s.graph.nameOf[task]!]!);',
  ]),
  ofRoles(300_017, 'tasks start after the rollout of a role has reached its limit', 'src/core/scheduler/slots.ts', [
    '    if (isBarred(s, best) || !hasPermit(s, node, best)) return;',
    '    if (!hasPermit(s, node, best)) return;',
  ]),
  // Limits of changes: who may touch a machine, and when.
  ofLimits('cluster', 20_261_129_500_002, 'one machine more than the limits say may be out of service', MAY_TOUCH, [
    '>= this.placesIn(limit, of))',
    '> this.placesIn(limit, of))',
  ]),
  ofLimits('cluster', 20_261_129_500_002, 'machines that are broken or in maintenance take no place', MAY_TOUCH, [
    "if (standing === 'out') this.#out.add(name);",
    "if (standing === 'out' && name === '') this.#out.add(name);",
  ]),
  ofLimits('cluster', 20_261_129_500_002, 'permits of other runs take no place', MAY_TOUCH, [
    'for (const permit of facts.held) this.take(permit);',
    'for (const permit of facts.held.slice(0, 0)) this.take(permit);',
  ]),
  ofLimits('cluster', 20_261_129_500_002, 'a limit of each rack holds none', MAY_TOUCH, [
    "return per === 'rack' ? this.#racksOf(machine) : [null];\n  }\n\n  /** A machine whose",
    "return per === 'rack' ? [] : [null];\n  }\n\n  /** A machine whose",
  ]),
  ofLimits('cluster', 20_261_129_500_003, 'a percentage of machines out of service is rounded up', MAY_TOUCH, [
    'Math.max(1, Math.floor((total',
    'Math.max(1, Math.ceil((total',
  ]),
  ofLimits(
    'cluster',
    20_261_129_500_005,
    'a machine that a run has left broken takes no place',
    'src/runs/permits.ts',
    [
      "const isLeft = failed.has(name) && standing.standing !== 'out';",
      "const isLeft = failed.has(name) && standing.standing === 'out';",
    ],
  ),
  ofLimits('cluster', 20_261_129_500_004, 'work begins while the calendar is closed', MAY_TOUCH, [
    'if (this.#closed !== null) waits.push(this.#closed);',
    'if (this.#closed !== null && waits.length > 0) waits.push(this.#closed);',
  ]),
  ofLimits('cluster', 20_261_129_500_004, 'the last day of a freeze is not frozen', CALENDAR, [
    'local < midnight(to) + DAY;',
    'local < midnight(to);',
  ]),
  also(
    ofLimits('cluster', 20_261_129_500_020, 'the permits of a terminated run stay', 'src/store/queries/permits.ts', [
      "            eb('state', '=', 'failed'),\n            eb('runId', 'in', eb.selectFrom('siteClaim')",
      "            eb('state', '!=', 'none' as never),\n            eb('runId', 'in', eb.selectFrom('siteClaim')",
    ]),
    { file: 'src/runs/permits.ts', is: '  await permits.forgetDead();\n', was: '' },
  ),
  ofLimits(
    'cluster',
    20_261_129_500_002,
    'tasks run on nodes for which there is no permit',
    'src/core/scheduler/machine-permits.ts',
    ['machines.wanted.add(node);\n  return false;', 'machines.wanted.add(node);\n  return true;'],
  ),
  ofLimits(
    'cluster',
    20_261_129_500_002,
    'a node whose task runs gives its permit back',
    'src/core/scheduler/machine-permits.ts',
    ['(node) => s.holder[node] === -1 && (isOver', '(node) => (isOver'],
  ),
  ofLimits('cluster', 20_261_129_500_002, 'a run that waits for permits asks once', 'activities/run/permits.ts', [
    'if (answer.granted.length > 0 || isNews) return answer;',
    'if (answer.granted.length > 0 || isNews) return answer;\n            await new Promise(() => undefined);',
  ]),
  ofLimits('site', 20_261_129_500_020, 'more machines are deployed at a time than the limits say', MAY_TOUCH, [
    '>= limit.deploying) waits.push',
    '> limit.deploying) waits.push',
  ]),
  ofLimits('site', 20_261_129_500_006, 'a machine that was never deployed takes a place', MAY_TOUCH, [
    "known !== undefined && known.standing !== 'new';",
    'known !== undefined;',
  ]),
  ofLimits('site', 20_261_129_500_037, 'limits of newer documents do not hold', 'activities/run/permits.ts', [
    'const newest = await newestDocuments(cache.find, site);',
    'const newest = await newestDocuments((of) => cache.find(of, { number: 1 }), site);',
  ]),
  ofOverrides(
    'site',
    20_261_130_000_006,
    'a run that nobody with the right has started goes beyond limits',
    BOOKKEEPING,
    ["if (entry === undefined) return { ok: false, failure: { kind: 'override-refused' } };", ''],
  ),
  ofOverrides('site', 20_261_130_000_017, 'the audit trail does not say that a run goes beyond limits', BOOKKEEPING, [
    'given({ adopt, override_limits })),',
    'given({ adopt })),',
  ]),
  ofOverrides(
    'cluster',
    20_261_130_000_017,
    'the report does not say that a run of graphs goes beyond limits',
    'src/core/graph-run/report.ts',
    [
      'const overridden = given({ limits, rollouts });',
      'const overridden = given({ limits: limits && undefined, rollouts });',
    ],
  ),
  ofOverrides('site', 20_261_130_000_009, 'MAAS works on more machines at a time than the limits say', MAY_TOUCH, [
    '>= limit.requests) waits.push',
    '> limit.requests) waits.push',
  ]),
  ofOverrides(
    'site',
    20_261_130_000_019,
    'a machine that a held run has prepared is deployed without a permit',
    'src/core/deployment/permits.ts',
    [
      'const ready = prepared.filter((node) => !without.has(node));',
      'const ready = prepared.filter((node) => !without.has(node) || node >= 0);',
    ],
  ),
  {
    ...ofOverrides(
      'cluster',
      20_261_130_000_021,
      'a part of a graph that only asks checks wakes over and over',
      'workflows/graph/run-graph-part.ts',
      [
        "if (!hasChanged() || (input.alone && patched('alone-reports-nothing'))) return null;",
        'if (!hasChanged()) return null;',
      ],
    ),
    mended: CHECKS,
  },
  {
    ...bug(
      'cluster',
      'src/core/scheduler/part-exchange.ts',
      'a part that a reset run starts anew never begins',
      'src/core/scheduler/part-exchange.ts',
      ['if (first && message.hello === true', 'if (first && message.seq < 0 && message.hello === true'],
    ),
    seed: 20_261_130_000_194,
  },
];
