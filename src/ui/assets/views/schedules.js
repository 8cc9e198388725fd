import { post } from '../api.js';
import { Action } from '../ask.js';
import { html } from '../html.js';
import { Command, Empty, Loaded, Title } from '../parts.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { said, timeOf } from '../words.js';

/** Schedules: next times, and last runs. */
export function SchedulesView() {
  const schedules = useData('/api/v1/schedules', { again: listsChanged.value });
  return html`<${Title} of="Schedules" />
    <${Loaded} from=${schedules}>
      ${({ items }) =>
        html`<${Table}
          label="Schedules"
          rows=${items}
          keyOf=${(one) => one.name}
          empty=${html`<${NoSchedule} />`}
          columns=${[
            ['Schedule', (one) => one.name, 'name'],
            ['Starts', (one) => html`<${Subject} of=${one} />`],
            [
              'When',
              (one) =>
                html`${one.cron.join(', ')} (${one.timezone}) <span class="quiet">overlap: ${one.overlap}</span>`,
            ],
            ['Next', (one) => html`<${NextTimes} of=${one} />`],
            ['Last run', (one) => html`<${LastRun} run=${one.recent[0]} />`],
            ['', (one) => html`<${Steer} schedule=${one} />`, 'actions'],
          ]}
        />`}
    <//>`;
}

/** Several show whether the times are the intended ones. */
const NEXT = 3;

const NextTimes = ({ of: { paused, note, next_times: times } }) =>
  paused
    ? `paused${note ? ` by ${note}` : ''}`
    : html`${timeOf(times[0])} <span class="quiet">${times
        .slice(1, NEXT)
        .map((time) => `then ${timeOf(time)}`)
        .join(', ')}</span>`;

const NoSchedule = () => html`<${Empty} title="No schedules yet.">
  <p>A schedule tests or updates a site, or runs graphs, at scheduled times:</p>
  <${Command} text='sitewright schedule create NAME --test SITE --cron "30 6 * * MON-FRI"' />
<//>`;

const Subject = ({ of: { kind, site, cluster } }) =>
  site === null
    ? html`${said(kind)} of <a href=${`/clusters/${cluster}`}>cluster ${cluster}</a>`
    : html`${said(kind)} of <a href=${`/sites/${encodeURIComponent(site)}`}>${site}</a>`;

const LastRun = ({ run }) =>
  run === undefined
    ? html`<span class="quiet">none</span>`
    : html`<a href=${`/runs/${run.run}`}>${timeOf(run.started_at)}</a>`;

function Steer({ schedule: { name, paused } }) {
  const ask = (verb) => async (given) => {
    await post(`/api/v1/schedules/${encodeURIComponent(name)}/${verb}`, given);
    listsChanged.value++;
  };
  return html`<${Action}
      label="Run now"
      title=${`Run ${name} now`}
      explain="Starts a run now. If the previous run is still running, the overlap policy applies."
      act=${ask('run')}
    />
    ${
      paused
        ? html`<${Action} label="Resume" title=${`Resume ${name}`} explain="Starts runs again." act=${ask('resume')} />`
        : html`<${Action} label="Pause" title=${`Pause ${name}`} explain="Starts no runs until it is resumed; running ones continue." act=${ask('pause')} />`
    }`;
}
