/** A seed that once failed. */
interface KnownSeed {
  readonly seed: number;
  /** What it showed. */
  readonly showed: string;
  /** File and full name of the test that holds it without the simulator; none where the check or the simulation was wrong. */
  readonly heldBy?: string;
}

const TROUBLE = 'test/workflow/execute-graph-trouble.test.ts';
const AT_ITS_LIMIT =
  'test/unit/agent/rules.test.ts: a task at its time limit > and ends with exit code 0 because it was told to has failed, and its report says so';

/**
 * `npm run simulate -- --known` and CI live through these again.
 *
 * They are numbers, not recorded stories. A story is each choice of one source of chance, down to how long a request takes: a recorded
 * one would end at the first request that a later change adds, and people and faults alone do not bring a race back. When a change moves
 * the stories, a seed of this list becomes one like any other; its defect is then still held by the test that it names, and where one change
 * of text puts the defect back, `bugs.ts` names the seed, so that `find-bugs.ts` shows whether the seed still finds it.
 */
export const KNOWN_SEEDS: readonly KnownSeed[] = [
  {
    seed: 118,
    showed: 'a run waited for ever for a part that someone reset while it was being cancelled',
    heldBy: `${TROUBLE}: a part that someone ends > ends its run, also if someone resets another part that is being cancelled for it`,
  },
  { seed: 152, showed: 'the check: a supervisor that dies before it has written a result does not know of it' },
  { seed: 206, showed: 'the check: as 152, at a power cut' },
  { seed: 315, showed: 'the simulation: children after a reset' },
  { seed: 336, showed: 'the check: a pause of an execution that a reset of an earlier one replaces is gone with it' },
  { seed: 400, showed: 'as 315' },
  { seed: 724, showed: 'the check: who asks in the last moment of a pause may be told that it is over' },
  {
    seed: 794,
    showed:
      'the simulation: an end that came while its activity was being cancelled; a part that had lost its cluster went on',
    heldBy: `${TROUBLE}: a run that has lost its cluster, and that holds for its operator, > ends by itself, and starts nothing more: %s`,
  },
  {
    seed: 992,
    showed: 'the check: a reinstalled node has lost the effect of an attempt with its journal, and does it again',
  },
  { seed: 997, showed: 'as 315' },
  { seed: 1000, showed: 'a task that was told to end was reported as killed, with exit code 0', heldBy: AT_ITS_LIMIT },
  { seed: 1160, showed: 'as 1000', heldBy: AT_ITS_LIMIT },
  {
    seed: 1206,
    showed: 'an order that no one took at its second try hid that its first had begun',
    heldBy: `${TROUBLE}: agents > a node that goes offline between two tries of an order may have started it, and its report says so%s`,
  },
  { seed: 1223, showed: 'the check: a machine that a person marks broken is commissioned again' },
  { seed: 1252, showed: 'the check: as 992' },
  {
    seed: 1380,
    showed:
      'a run that was reset to after it had cancelled its parts waited for ever for those that had ended meanwhile',
    heldBy: `${TROUBLE}: a run in parts that is reset to before most of what it has told them > ends when it had cancelled them, and they ended while someone had terminated it`,
  },
  { seed: 1544, showed: 'as 1000', heldBy: AT_ITS_LIMIT },
  { seed: 1651, showed: 'the simulated server: a reset of one run continued another one of its workflow' },
  { seed: 1674, showed: 'the check: what was revoked since the copy is valid again when the store is brought back' },
  { seed: 1720, showed: 'the check: a part that was reset does not know what it had started' },
  {
    seed: 1768,
    showed: 'the check: a slow machine starts an order late that it had before its certificates were revoked',
  },
  {
    seed: 2013,
    showed: 'a report did not say that a deployment that could not be aborted may continue',
    heldBy:
      'test/workflow/deploy-site.test.ts: time limits > the report says of a node that its deployment may continue: %s',
  },
  { seed: 2092, showed: 'as 1000', heldBy: AT_ITS_LIMIT },
  { seed: 2104, showed: 'as 1000', heldBy: AT_ITS_LIMIT },
  { seed: 2209, showed: 'the check: a run that was reset takes up deployments of before' },
  { seed: 2222, showed: 'the check: as 992' },
  { seed: 2264, showed: 'the check: as 992' },
  {
    seed: 2710,
    showed: 'a run that was terminated while it closed had ended well, and its transaction was open, then lost',
    heldBy:
      'test/unit/activities/graph-run-deaths.test.ts: a process that dies anywhere in a run > and does not come back, closes the run with its transaction or leaves both open',
  },
  { seed: 2861, showed: 'the check: as 2209' },
  { seed: 3049, showed: 'the check: as 2209' },
  {
    seed: 3666,
    showed:
      'a run that was terminated kept its row open, as the store went away, and its transaction stayed terminated',
    heldBy:
      'test/unit/activities/graph-run-deaths.test.ts: a process that dies anywhere in a run > and does not come back, closes a run that was terminated with its transaction or leaves both open',
  },
  {
    seed: 70023,
    showed: 'a deployment whose connection was lost was sent again, and reached MAAS after it was aborted',
    heldBy:
      'test/unit/activities/abort-node.test.ts: an abort waits for a deployment that its call has sent, and that is on its way',
  },
  {
    seed: 70571,
    showed: 'a worker that was held up between its proof and its request sent it when its run had ended',
    heldBy:
      'packages/maas/test/connection.test.ts: requests on the wire > a change leaves in time, or not at all, also if the process is held up once it is on its way',
  },
  {
    seed: 80305,
    showed: 'the check: a person who gives a deployed machine away later released it, which counted as ours',
  },
  {
    seed: 80613,
    showed:
      'the check: a run that wrote its end before the store was brought back may complete after that, and has the site until the next run',
  },
  {
    seed: 81289,
    showed:
      'the check: a run that died before it recorded its deployment does not know a machine that is renamed since',
  },
  {
    seed: 81398,
    showed: 'the simulated server: a reset lost the signals that a workflow task in flight had been given',
    heldBy:
      'test/temporal/reset-of-a-task-in-flight.test.ts: a signal that a workflow task in flight was given comes again after a reset',
  },
  {
    seed: 20261128866,
    showed: 'a run of which a restored store had only the claim kept its cluster when it ended',
    heldBy:
      'test/unit/activities/fenced.test.ts: %s of a run of which a restored store has only the claim gives that back',
  },
  {
    seed: 20261160171,
    showed: 'the report of a run that was reset had nodes of before, which its documents do not have any more',
    heldBy:
      'test/unit/activities/fenced.test.ts: close_run leaves out what its run recorded before a reset and does not have any more',
  },
  {
    seed: 20261170112,
    showed: 'the check: a slow machine starts an order late that it had before its run was paused',
  },
  {
    seed: 20261128100466,
    showed:
      'the records of a part that was reset counted as older than those of before, so that a report kept a failure',
    heldBy: 'test/unit/store/task-history.test.ts: handles late and repeated writes',
  },
  {
    seed: 20261128110862,
    showed:
      'a run that was opened after a refusal whose answer was lost kept the number of the refusal, and its transaction stayed open',
    heldBy:
      'test/unit/activities/graph-runs.test.ts: opening a run > has the number of its transaction, also when a try before was refused and its answer was lost',
  },
  {
    seed: 20261128120095,
    showed:
      'a machine that a person released right before its deployment reached MAAS was left deployed and without a marker',
    heldBy:
      'packages/maas/test/interference.test.ts: a person at MAAS in the middle of a deployment > releases it right before our deployment reaches it: it is given back',
  },
  {
    seed: 20261128200645,
    showed: 'a node failed because its worker ended while MAAS had not answered a request',
    heldBy:
      'test/unit/activities/abort-node.test.ts: a step whose change is on its way to MAAS > has no result when its worker ends: another worker goes on',
  },
  {
    seed: 20261128200702,
    showed: 'the check: a machine that is reinstalled while its certificates are revoked gets new ones',
  },
  {
    seed: 20261128201639,
    showed: 'a run that was reset while it closed itself ended in Temporal otherwise than in the store',
    heldBy:
      'test/unit/activities/fenced.test.ts: close_run ends a run that another execution of it has closed as closed: the store keeps its one end',
  },
  {
    seed: 20261128202166,
    showed: 'the simulation: children of an execution that a reset of an earlier one ends',
  },
  {
    seed: 20261128204936,
    showed:
      'a run whose parts ended after it had stopped them, while someone had terminated it, waited for ever after a reset',
    heldBy: `${TROUBLE}: a run in parts that is reset to before most of what it has told them > ends at a stop, at another stop, or at a cancel when they ended with it, while someone had terminated it`,
  },
  {
    seed: 20261128205652,
    showed: 'the check: a resume by an update takes back a pause by a signal that was sent after it',
  },
  {
    seed: 20261128205753,
    showed: 'the check: a run that comes back to open anew finds another run on its site, and the store keeps its end',
  },
  {
    seed: 20261128207085,
    showed: 'the report of a run that was reset said that a node succeeded which the run then released',
    heldBy:
      'test/unit/store/runs.test.ts: has no place in the plan for a node that the run has only released, whatever it recorded before a reset',
  },
  {
    seed: 20261128208549,
    showed: 'the report of a deployment whose abort took no effect did not say that it may continue',
  },
  {
    seed: 20261128209339,
    showed: 'a deployment whose attempt failed in the moment of the cancel was not aborted at MAAS',
    heldBy:
      'test/workflow/deploy-site.test.ts: time limits > a node whose last attempt failed before it heard of the time limit is aborted too',
  },
  {
    seed: 20261128211238,
    showed:
      'a run whose store was restored after it had closed its graph, and before its own end, did not say what is lost',
    heldBy:
      'test/unit/activities/graph-runs.test.ts: a complete run > whose graph was closed before the store was restored says at its end what is lost',
  },
  {
    seed: 20261128220092,
    showed: 'the simulation: a machine booted a second time while it ran, by an earlier loss of its power',
  },
  { seed: 20261129000513, showed: 'the check: a node whose part was terminated has failed with it' },
  { seed: 20261129000697, showed: 'the check: a retry of a node in a rollout came before its first result' },
  { seed: 20261129000924, showed: 'the check: as 992' },
  {
    seed: 20261129002171,
    showed: 'a pause was taken, and shown, after the outcome of its run was decided, and held nothing',
    heldBy:
      'test/workflow/deploy-site.test.ts: operators > a pause of a run that has ended and writes its report is refused',
  },
  {
    seed: 20261129002588,
    showed: 'a run whose graph had failed before the store was restored was cancelled, and the graph shown as stopped',
    heldBy: 'test/unit/store/transactions.test.ts: ends a graph as its run says, if the store has lost that end',
  },
  {
    seed: 20261129005514,
    showed:
      'a run in parts that had been reset often waited for a part of earlier, and dropped what the present one said',
  },
  {
    seed: 20261129007716,
    showed: 'a graph that had been stopped before its run was reset, and failed after, was shown as stopped',
    heldBy: 'test/unit/store/transactions.test.ts: ends a graph as its run says, if the store has lost that end',
  },
  { seed: 20261129008775, showed: 'the check: a person retried a node that had failed before it began' },
  {
    seed: 20261129404803,
    showed: 'a stop that came while a run recorded the answers to the checks of a wave was lost',
    heldBy: 'test/workflow/rollout.test.ts: a rollout > hears a stop that comes while the store is told of %s',
  },
  {
    seed: 20261129405161,
    showed: 'a run of which a restored store had only the claim failed when it recorded nodes, and kept its site',
    heldBy:
      'test/unit/activities/fenced.test.ts: %s of a run of which a restored store has only the claim gives that back',
  },
  {
    seed: 20261129405231,
    showed: 'the check: the nodes of a part that someone cancelled have failed, whatever it reports afterwards',
  },
  {
    seed: 20261129409924,
    showed:
      'a node got an order of a run that was stopped and then terminated before any worker had processed the stop',
    heldBy:
      'test/unit/runs/run-hold.test.ts: whether a run starts anything new > is not known of a run that is terminated meanwhile: it answers without a stop that no worker had processed',
  },
  { seed: 20261129420566, showed: 'the check: operators let a run go on that was paused as they did so before' },
  {
    seed: 20261129430514,
    showed: 'the check: people end the rollout of a run of graphs, and its other tasks are not reached',
  },
  {
    seed: 20261129431358,
    showed: 'the check: a task that its node refuses is a failure of its wave, which goes on within its limit',
  },
  {
    seed: 20261129432140,
    showed:
      'a run that was terminated and reset believed its part, which had lost the claim with it, and kept its cluster',
    heldBy:
      'test/workflow/execute-graph-trouble.test.ts: a run that has lost its cluster, and that holds for its operator, > ends by itself, and starts nothing more: %s',
  },
  {
    seed: 20261129443734,
    showed:
      'a run whose parts are coordinated apart could not be replayed after a reset: the ids of its requests had named the execution',
    heldBy:
      'test/workflow/execute-graph-trouble.test.ts: a run in parts that is reset to before most of what it has told them > goes on when a coordinator in a workflow of its own has answered an operator',
  },
  {
    seed: 20261129500210,
    showed:
      'a node started in a rollout at its limit when an operator had the failed one retried, where permits are needed',
    heldBy:
      'test/workflow/permits.test.ts: a run on a site with limits > starts nothing but what an operator retries while its rollout is at its limit',
  },
  {
    seed: 20261130000019,
    showed:
      'a run that was held deployed a prepared machine with a permit that it had given back, never gave that back again, and waited for itself',
    heldBy:
      'test/workflow/permits.test.ts: a run on a site with limits > starts nothing but what an operator retries while its rollout is at its limit',
  },
  {
    seed: 20261130000194,
    showed:
      'parts that a run started anew after a reset waited for ever for what their coordinator, in a workflow of its own, had told those before',
    heldBy:
      'test/unit/scheduler/parts.test.ts: a run in parts > begins again on a part that a run starts anew after a reset, with the coordinator of before',
  },
  {
    seed: 20261130001027,
    showed: 'the report of a run that was terminated before it showed one did not say that it went beyond limits',
    heldBy: 'test/unit/runs/forgotten-ends.test.ts: the report of a lost %s says that it went beyond limits, and why',
  },
  { seed: 20261130001104, showed: 'the check: the script of a check that a neighbour asks quotes its name' },
  {
    seed: 20261130001116,
    showed: 'a run whose number another run has after a restore of the store ended with its claim',
    heldBy:
      'test/unit/activities/fenced.test.ts: %s of a run of which a restored store has only the claim gives that back',
  },
  { seed: 20261130002122, showed: 'the check: the reset of a part takes back the failures that it knew of' },
  {
    seed: 20261130002438,
    showed: 'the check: a restored store loses permits that a run of graphs does not prove again',
  },
  {
    seed: 20261130002675,
    showed:
      'a run waited for ever for permits of its own that a restored store had brought back; 20261130002611: after a reset',
    heldBy:
      'test/unit/runs/permits.test.ts: go back when their run does not know of them, unless it was given them since it asked',
  },
  {
    seed: 20261130002752,
    showed: 'a run that was reset gave the permit of a machine back that it had left broken: that counted as well',
    heldBy:
      'test/unit/runs/permits.test.ts: are fewer by the machines that are in maintenance, broken, or left broken by a run until another succeeds on them',
  },
];
