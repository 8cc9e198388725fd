// Words, times and states as the page shows them.
import type { Run } from '../../core/contracts/runs.ts';
import type { NodeReport } from '../../core/contracts/site-run-report.ts';
import { STATE_WORDS } from '../../core/state-word.ts';
import type { TaskOnNode } from '../../core/task-on-node.ts';
import { durationText, someOf } from '../../core/text/text.ts';
import {
  DONE_STATUSES,
  TASK_STATUSES_WORST_FIRST as TASK_STATUSES,
  type TaskStatus,
  WORK_STATUSES,
} from '../../core/words.ts';
import type { Answer } from './api.ts';
import type { Names } from './names.ts';

export { TASK_STATUSES };

/** Number of tasks by status. */
export type Counts = Answer<'GET /runs/:run/counts'>['graphs'][number]['nodes'][string];

export type Look = keyof typeof LOOKS | 'off';

/** The states of each look; others look `off`. */
const LOOKS = {
  ok: 'success ready operational finished ok well available deployed',
  bad: 'failed error broken terminated lost failing update_error',
  busy:
    'running retrying starting provisioning deploying aborting deployment baremetal software release load checks ' +
    'verify_site prepare_site inspect_nodes soaking checking update',
  early: 'preparing prepared',
  wait: 'waiting new pending discover bare never_deployed planned',
  warn:
    'blocked success_with_failures paused held awaiting_approval stopping stopped cancelled ignored ' +
    'partially_deployed removing',
  half: 'provisioned',
};

const LOOK_OF: ReadonlyMap<string, Look> = new Map(
  Object.entries(LOOKS).flatMap(([look, states]) => states.split(' ').map((one) => [one, look as keyof typeof LOOKS])),
);

/** MAAS' states have several words: `Failed deployment`. */
export function lookOf(state: string | null): Look {
  const word = String(state).toLowerCase();
  return LOOK_OF.get(word) ?? LOOK_OF.get(word.split(' ')[0]!) ?? 'off';
}

const SAID: Readonly<Record<string, string>> = {
  ...STATE_WORDS,
  deploy_site: 'deploy',
  update_site: 'update',
  redeploy_nodes: 'redeploy',
  test_site: 'test',
  execute_graph: 'graphs',
  baremetal: 'deploying',
  percent_successful_nodes: 'at least % of nodes',
  minimum_successful_nodes: 'at least N nodes',
  maximum_failed_nodes: 'at most N failed',
};

/** A state or kind in words. */
export const said = (word: string): string => SAID[word] ?? word.replaceAll('_', ' ');

/** The state of a run: its outcome once it has one, else its current phase. */
export function standingOf({
  outcome,
  phase,
  paused,
  held,
  awaiting_approval,
}: Pick<Run, 'outcome' | 'phase' | 'paused' | 'held' | 'awaiting_approval'>): {
  readonly look: Look;
  readonly text: string;
} {
  if (outcome !== null) return { look: lookOf(outcome), text: said(outcome) };
  if (paused) return { look: 'warn', text: 'paused' };
  if (awaiting_approval) return { look: 'warn', text: said('awaiting_approval') };
  // A run of graphs says so in its phase.
  const text = held && !phase.endsWith('held') ? `${said(phase)}: held` : said(phase);
  return { look: held ? 'warn' : 'busy', text };
}

/** A moment: as text of the API, or in milliseconds. */
export type Moment = string | number | Date;

export const msOf = (moment: Moment): number => new Date(moment).getTime();

export const timeOf = (moment: Moment | null | undefined): string =>
  moment === null || moment === undefined ? '' : new Date(moment).toLocaleString();

/** `3 min 12 s` between two moments. */
export const lasting = (from: Moment, to: Moment): string => durationText(msOf(to) - msOf(from));

/** `1 node`, `2 nodes`. */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString()} ${n === 1 ? one : many}`;

/** Names with commas between, at most so many of them. */
export const some = (names: readonly string[], most = 8): string => someOf(names, most);

/** All of a mapping's numbers. */
export const sum = (counts: Counts, keys: readonly TaskStatus[] = TASK_STATUSES): number =>
  keys.reduce((all, key) => all + (counts[key] ?? 0), 0);

/** Several counts in one. */
export function totalOf(several: readonly Counts[]): Counts {
  const all: { -readonly [Status in keyof Counts]: Counts[Status] } = {};
  for (const counts of several)
    for (const [status, n] of Object.entries(counts) as [keyof Counts, number][]) all[status] = (all[status] ?? 0) + n;
  return all;
}

/** `3 failed, 5 success`: the statuses that there are, the worst first. */
export const saidCounts = (counts: Counts): string =>
  TASK_STATUSES.filter((status) => (counts[status] ?? 0) > 0)
    .map((status) => `${counts[status]} ${said(status)}`)
    .join(', ');

/** Tasks that ran to an end, and tasks with work: as in `core/task-counts`. */
export const doneOf = (counts: Counts): number => sum(counts, DONE_STATUSES);
export const workOf = (counts: Counts): number => sum(counts, WORK_STATUSES);

/** The one state that sums up many tasks: the worst first. */
export function worst(counts: Counts): TaskStatus | 'started' {
  for (const status of ['failed', 'retrying', 'running', 'blocked'] as const) if (counts[status]) return status;
  if (counts.waiting) return sum(counts, ['success', 'ignored']) > 0 ? 'started' : 'waiting';
  if (counts.not_reached) return 'not_reached';
  if (counts.success) return 'success';
  if (counts.ignored) return 'ignored';
  return 'skipped';
}

/** Where a task is, in words: `TASK on NODE`. */
export const placeOf = ({ task, node }: TaskOnNode, names: Names = {}): string =>
  node === 'null' ? task : `${task} on ${names[node] ?? node}`;

type Progress = Pick<NodeReport, 'state' | 'attempts' | 'running'>;

/** Whether a run left a node as it was: it counts as successful without a try. */
export const isUntouched = ({ state, attempts }: Progress): boolean => state === 'success' && attempts === 0;

export const UNTOUCHED = 'not touched';

const UNDER_WAY = { prepare: 'preparing', deploy: 'deploying', abort: 'aborting' } as const;

/** What becomes of a node in a run on its site. */
export const stateOf = (node: Progress): string => {
  if (isUntouched(node)) return UNTOUCHED;
  return node.running === undefined ? said(node.state) : UNDER_WAY[node.running];
};

export const lookOfNode = (node: Progress): Look =>
  isUntouched(node) ? 'off' : lookOf(node.running === undefined ? node.state : UNDER_WAY[node.running]);

/** Why a node failed; the warnings of one that did not. */
export const reasonOf = ({ reason, warnings = [] }: Pick<NodeReport, 'reason' | 'warnings'>): string =>
  reason ?? warnings.join('; ');
