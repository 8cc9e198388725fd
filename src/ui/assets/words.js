// Words, times and states as the page shows them.
import { STATE_WORDS } from 'core/state-word';
import { DONE_STATUSES, WORK_STATUSES } from 'core/words';

export { TASK_STATUSES_WORST_FIRST as TASK_STATUSES } from 'core/words';

/** The look of a state: one of `ok`, `bad`, `busy`, `wait`, `warn`, `off`. */
const LOOKS = {
  ok: 'success ready operational finished ok available deployed prepared',
  bad: 'failed error terminated lost failing update_error',
  busy: 'running deploying provisioning retrying deployment baremetal software release verify_site prepare_site load inspect_nodes update starting',
  wait: 'waiting new pending discover planned',
  warn: 'blocked success_with_failures paused held awaiting_approval stopping stopped cancelled ignored partially_deployed removing',
  half: 'provisioned',
};

const LOOK_OF = new Map(Object.entries(LOOKS).flatMap(([look, states]) => states.split(' ').map((one) => [one, look])));

export const lookOf = (state) => LOOK_OF.get(String(state).toLowerCase()) ?? 'off';

const SAID = {
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
export const said = (word) => SAID[word] ?? String(word ?? '').replaceAll('_', ' ');

/** `{look, text}` of a run: its outcome once it has one, else its current phase. */
export function standingOf({ outcome, phase, paused, held, awaiting_approval }) {
  if (outcome !== null) return { look: lookOf(outcome), text: said(outcome) };
  if (paused) return { look: 'warn', text: 'paused' };
  if (awaiting_approval) return { look: 'warn', text: said('awaiting_approval') };
  return { look: held ? 'warn' : 'busy', text: said(phase) };
}

export const timeOf = (text) => (text === null || text === undefined ? '' : new Date(text).toLocaleString());

/** `3 min 12 s` between two moments. */
export function lasting(from, to) {
  const seconds = Math.max(0, Math.round((new Date(to) - new Date(from)) / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h > 0) return `${h} h ${m} min`;
  return m > 0 ? `${m} min ${s} s` : `${s} s`;
}

/** `1 node`, `2 nodes`. */
export const count = (n, one, many = `${one}s`) => `${n.toLocaleString()} ${n === 1 ? one : many}`;

/** Names with commas between, at most so many of them. */
export const some = (names, most = 8) =>
  `${names.slice(0, most).join(', ')}${names.length > most ? ` and ${names.length - most} more` : ''}`;

/** All of a mapping's numbers. */
export const sum = (counts, keys = Object.keys(counts ?? {})) =>
  keys.reduce((all, key) => all + (counts?.[key] ?? 0), 0);

/** Tasks that ran to an end, and tasks with work: as in `core/task-counts`. */
export const doneOf = (counts) => sum(counts, DONE_STATUSES);
export const workOf = (counts) => sum(counts, WORK_STATUSES);

/** The one state that sums up many tasks: the worst first. */
export function worst(counts) {
  for (const status of ['failed', 'retrying', 'running', 'blocked']) if (counts?.[status]) return status;
  if (counts?.waiting) return sum(counts, ['success', 'ignored']) > 0 ? 'started' : 'waiting';
  if (counts?.not_reached) return 'not_reached';
  if (counts?.success) return 'success';
  if (counts?.ignored) return 'ignored';
  return 'skipped';
}

/** Where a task is, in words: `TASK on NODE`. */
export const placeOf = ({ task, node }, names = {}) => (node === 'null' ? task : `${task} on ${names[node] ?? node}`);

/** Why a node failed; the warnings of one that did not. */
export const reasonOf = (node) => node.reason ?? (node.warnings ?? []).join('; ');
