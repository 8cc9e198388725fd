/** Defects that the project had, each put back by one change of today's text. Where text moved on, the change is moved with it. */
export interface Bug {
  readonly name: string;
  /** The commit that mended it, or the entry of the changelog. */
  readonly mended: string;
  readonly file: string;
  readonly is: string;
  readonly was: string;
  /** Seeds of a site within which it is found. */
  readonly within: number;
}

export const BUGS: readonly Bug[] = [
  {
    name: 'a try begins to change a machine while its run is paused',
    mended: '97170768',
    file: 'activities/node-calls.ts',
    is: 'await (isFirst ? assertMayStart : proveClaim)(deps, { site });',
    was: 'await proveClaim(deps, { site });',
    within: 20,
  },
  {
    name: 'a machine is changed without proof that its run has the site',
    mended: 'b1594189',
    file: 'activities/fencing.ts',
    is: '    const claim = await fence.store.claims.holder(subject);\n    if (claim === null) throw lost',
    was: '    const claim = await fence.store.claims.holder(subject);\n    if (claim !== null) return claim;\n    if (claim === null) throw lost',
    within: 20,
  },
  {
    name: 'a run ends without answers to accepted requests',
    mended: 'workflows/run.ts',
    file: 'workflows/run.ts',
    is: '      await condition(allHandlersFinished);\n',
    was: '      if (opened.ok) await condition(allHandlersFinished);\n',
    within: 60,
  },
  {
    name: 'a second run takes a site from one that is open',
    mended: 'src/store/gone-holders.ts',
    file: 'src/store/gone-holders.ts',
    is: 'if (await isOpen(other.workflowId, other.runId)) return other;',
    was: '',
    within: 60,
  },
  {
    name: 'the end of a run leaves its claim',
    mended: 'src/store/queries/run-store.ts',
    file: 'src/store/queries/run-store.ts',
    is: '      await releaseClaim(transaction, subject, { workflowId: run.workflowId, runId: run.id });\n',
    was: '',
    within: 20,
  },
  {
    name: 'rows of terminated runs stay open for ever',
    mended: 'activities/bookkeeping.ts',
    file: 'activities/bookkeeping.ts',
    is: '  await closeGoneRuns(store, deps, (await store.runs.list({ site, open: true, limit: MAX_OPEN })).items);\n',
    was: '',
    within: 60,
  },
  {
    name: 'a machine is deployed before it has its marker',
    mended: 'packages/maas/src/deploy-machine.ts',
    file: 'packages/maas/src/deploy-machine.ts',
    is: "return { do: 'act', action: !isMine ? 'annotate' : isConfigured ? 'deploy' : 'configure' };",
    was: "return { do: 'act', action: isConfigured ? 'deploy' : 'configure' };",
    within: 20,
  },
  {
    name: 'an outage fails a healthy node: retries end after three',
    mended: 'docs/explain/design.md#failures-are-results',
    file: 'workflows/activity-options.ts',
    is: "  maximumInterval: '30 seconds',\n};",
    was: "  maximumInterval: '30 seconds',\n  maximumAttempts: 3,\n};",
    within: 40,
  },
];
