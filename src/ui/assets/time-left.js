// How long a run will take, by earlier ones.
import { query as queryOf } from './api.js';
import { shownMoment } from './clock.js';
import { html } from './html.js';
import { useData } from './store.js';
import { lasting } from './words.js';

/** Runs that are looked at. */
const EARLIER = 10;

/** The expected time left of an open run, from earlier good ones of the same kind on the same site or cluster. */
export function TimeLeft({ run }) {
  const { cluster } = run.labels;
  const asked = {
    kind: run.kind,
    site: run.site,
    label: cluster && `cluster:${cluster}`,
    open: 'false',
    until: run.started_at,
    limit: EARLIER,
  };
  const { data } = useData(`/api/v1/runs${queryOf(asked)}`);
  const left = expectedLeft(run, data?.items ?? [], shownMoment.value);
  if (left === undefined) return null;
  const text = left.ms <= 0 ? 'should end any moment' : `about ${lasting(0, Math.ceil(left.ms / 1000) * 1000)} left`;
  return html`<span class="left" title=${`from ${left.runs} earlier runs`}> · ${text}</span>`;
}

/** Of runs of about the same size: the median of their durations, less what has passed. */
export function expectedLeft(run, earlier, now) {
  const alike = earlier.filter(
    (one) =>
      one.ended_at !== null &&
      ['success', 'success_with_failures'].includes(one.outcome) &&
      (!run.total || !one.total || (one.total >= run.total / 2 && one.total <= run.total * 2)),
  );
  if (alike.length === 0) return undefined;
  const durations = alike.map((one) => Date.parse(one.ended_at) - Date.parse(one.started_at)).sort((a, b) => a - b);
  return { ms: durations[Math.floor(durations.length / 2)] - (now - Date.parse(run.started_at)), runs: alike.length };
}
