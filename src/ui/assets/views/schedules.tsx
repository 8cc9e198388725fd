import { type Answer, at, send } from '../api.ts';
import { Action, type Given } from '../ask.tsx';
import { Command, Empty, Loaded, Title } from '../parts.tsx';
import { listsChanged, useData } from '../store.ts';
import { Table } from '../table.tsx';
import { said, timeOf } from '../words.ts';

/** Schedules: next times, and last runs. */
export function SchedulesView() {
  const schedules = useData(at('GET /schedules'), { again: listsChanged.value });
  return (
    <>
      <Title of="Schedules" />
      <Loaded from={schedules}>
        {({ items }) => (
          <Table
            label="Schedules"
            rows={items}
            keyOf={(one) => one.name}
            empty={<NoSchedule />}
            columns={[
              ['Schedule', (one) => one.name, 'name'],
              ['Starts', (one) => <Subject of={one} />],
              [
                'When',
                (one) => (
                  <>
                    {one.cron.join(', ')} ({one.timezone}) <span class="quiet">overlap: {one.overlap}</span>
                  </>
                ),
              ],
              ['Next', (one) => <NextTimes of={one} />],
              ['Last run', (one) => <LastRun run={one.recent[0]} />],
              ['', (one) => <Steer schedule={one} />, 'actions'],
            ]}
          />
        )}
      </Loaded>
    </>
  );
}

/** Several show whether the times are the intended ones. */
const NEXT = 3;

type Schedule = Answer<'GET /schedules'>['items'][number];

const NextTimes = ({ of: { paused, note, next_times: times } }: { readonly of: Schedule }) =>
  paused ? (
    `paused${note ? ` by ${note}` : ''}`
  ) : (
    <>
      {timeOf(times[0])}{' '}
      <span class="quiet">
        {times
          .slice(1, NEXT)
          .map((time) => `then ${timeOf(time)}`)
          .join(', ')}
      </span>
    </>
  );

const NoSchedule = () => (
  <Empty title="No schedules yet.">
    <p>A schedule tests or updates a site, or runs graphs, at scheduled times:</p>
    <Command text={'sitewright schedule create NAME --test SITE --cron "30 6 * * MON-FRI"'} />
  </Empty>
);

const Subject = ({ of: { kind, site, cluster } }: { readonly of: Schedule }) =>
  site === null ? (
    <>
      {said(kind)} of <a href={`/clusters/${cluster}`}>cluster {cluster}</a>
    </>
  ) : (
    <>
      {said(kind)} of <a href={`/sites/${encodeURIComponent(site)}`}>{site}</a>
    </>
  );

const LastRun = ({ run }: { readonly run: Schedule['recent'][number] | undefined }) =>
  run === undefined ? <span class="quiet">none</span> : <a href={`/runs/${run.run}`}>{timeOf(run.started_at)}</a>;

function Steer({ schedule: { name, paused } }: { readonly schedule: Schedule }) {
  const ask = (verb: 'run' | 'pause' | 'resume') => async (given: Given) => {
    await send(`POST /schedules/:schedule/${verb}`, { params: { schedule: name }, body: given.note });
    listsChanged.value++;
  };
  return (
    <>
      <Action
        label="Run now"
        title={`Run ${name} now`}
        explain="Starts a run now. If the previous run is still running, the overlap policy applies."
        act={ask('run')}
      />
      {paused ? (
        <Action label="Resume" title={`Resume ${name}`} explain="Starts runs again." act={ask('resume')} />
      ) : (
        <Action
          label="Pause"
          title={`Pause ${name}`}
          explain="Starts no runs until it is resumed; running ones continue."
          act={ask('pause')}
        />
      )}
    </>
  );
}
