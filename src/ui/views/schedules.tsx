import { OVERLAP_POLICIES, SCHEDULED_KINDS } from '../../core/words.ts';
import { type Answer, at, send } from '../kit/api.ts';
import { Action, type Given, type Option, optionsOf } from '../kit/ask.tsx';
import { commandOf, eachOption } from '../kit/command-text.ts';
import { useClusterNames } from '../kit/names.ts';
import { Command, Empty, NewTab, SiteLink, Title } from '../kit/parts.tsx';
import { listsChanged, useData } from '../kit/store.ts';
import { Listed } from '../kit/table.tsx';
import { said, timeOf } from '../kit/words.ts';

/** Schedules: next times, and last runs. */
export function SchedulesView() {
  const schedules = useData(at('GET /schedules'), { again: listsChanged.value });
  return (
    <>
      <Title of="Schedules" actions={<CreateSchedule />} />
      <Listed
        from={schedules}
        label="Schedules"
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
          ['Temporal', (one) => <NewTab at={one.temporal_url}>Show</NewTab>],
          ['', (one) => <Steer schedule={one} />, 'actions'],
        ]}
      />
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

/** Tests or updates a site, or runs graphs of a cluster, at set times. */
function CreateSchedule() {
  const sites = useData(at('GET /sites')).data?.items ?? [];
  const clusters = [...useClusterNames()];
  const subjects: Option[] = [
    ...sites.flatMap(({ name }): Option[] => [
      [`test_site ${name}`, `test ${name}`],
      [`update_site ${name}`, `update ${name}`],
    ]),
    ...clusters.map(([id, name]): Option => [`execute_graph ${id}`, `run the graph default on ${name}`]),
  ];
  const readOf = ({ texts: { what = '', name = 'NAME', cron = '', timezone, overlap } }: Given) => {
    const [kind = '', subject = ''] = what.split(' ');
    return { kind, subject, name, cron: cron.split(';').map((one) => one.trim()), timezone, overlap };
  };
  return (
    <Action
      label="Create a schedule"
      verb="create"
      main
      disabled={subjects.length === 0 && 'There is neither a site nor a cluster yet.'}
      reason={false}
      signed={false}
      fields={[
        { name: 'name', label: 'Name', needed: true, placeholder: 'nightly', autofocus: true },
        { name: 'what', label: 'Starts', type: 'select', needed: true, options: subjects },
        { name: 'cron', label: 'When', needed: true, placeholder: '30 6 * * MON-FRI; @daily; @every 4h' },
        { name: 'timezone', label: 'Time zone', value: Intl.DateTimeFormat().resolvedOptions().timeZone },
        { name: 'overlap', label: 'If the last run still runs', type: 'select', options: optionsOf(OVERLAP_POLICIES) },
      ]}
      act={async (given) => {
        const { kind, subject, name, cron, timezone, overlap } = readOf(given);
        const body = {
          ...{ name, cron, input: kind === 'execute_graph' ? { cluster: Number(subject) } : { site: subject } },
          kind: SCHEDULED_KINDS.find((one) => one === kind) ?? 'test_site',
          overlap: OVERLAP_POLICIES.find((one) => one === overlap) ?? 'skip',
          ...(timezone !== undefined && { timezone }),
        };
        await send('POST /schedules', { body });
        listsChanged.value++;
      }}
      command={(given) => {
        const { kind, subject, name, cron, timezone, overlap } = readOf(given);
        const of = { test_site: '--test', update_site: '--update' }[kind] ?? '--cluster';
        const zone = timezone === undefined ? [] : ['--timezone', timezone];
        return commandOf([
          'schedule',
          'create',
          name,
          of,
          subject,
          ...eachOption('--cron', cron),
          ...zone,
          '--overlap',
          overlap,
        ]);
      }}
      done="The schedule is there."
    />
  );
}

const Subject = ({ of: { kind, site, cluster } }: { readonly of: Schedule }) =>
  site === null ? (
    <>
      {said(kind)} of <a href={`/clusters/${cluster}`}>cluster {cluster}</a>
    </>
  ) : (
    <>
      {said(kind)} of <SiteLink of={site} />
    </>
  );

const LastRun = ({ run }: { readonly run: Schedule['recent'][number] | undefined }) =>
  run === undefined ? <span class="quiet">none</span> : <a href={`/runs/${run.run}`}>{timeOf(run.started_at)}</a>;

const VERBS = {
  run: ['Run now', 'Starts a run now. If the previous run is still running, the overlap policy applies.'],
  pause: ['Pause', 'Starts no runs until it is resumed; running ones continue.'],
  resume: ['Resume', 'Starts runs again.'],
} as const;

const Steer = ({ schedule: { name, paused } }: { readonly schedule: Schedule }) =>
  (['run', paused ? 'resume' : 'pause'] as const).map((verb) => (
    <Action
      key={verb}
      label={VERBS[verb][0]}
      title={verb === 'run' ? `Run ${name} now` : `${VERBS[verb][0]} ${name}`}
      explain={VERBS[verb][1]}
      act={async (given) => {
        await send(`POST /schedules/:schedule/${verb}`, { params: { schedule: name }, body: given.note });
        listsChanged.value++;
      }}
      command={(given) => commandOf(['schedule', verb, name], given)}
    />
  ));
