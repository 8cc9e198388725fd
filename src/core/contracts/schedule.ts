import { z } from 'zod';
import { OVERLAP_POLICIES, SCHEDULED_KINDS } from '../words.ts';
import { anyJson, plainName, timestamp } from './primitives.ts';
import { gone, tagged } from './route.ts';
import { operatorBody } from './run.ts';
import type { Wire } from './wire.ts';

const timezone = z.string().min(1).max(100);

const newScheduleBody = z
  .strictObject({
    name: plainName,
    kind: z.enum(SCHEDULED_KINDS).describe('The workflow to start.'),
    input: z
      .record(z.string(), z.unknown())
      .describe('Input of each run, as the workflow takes it: `{"site": "dc1"}`, `{"cluster": 1}`.'),
    cron: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(20)
      .describe('When: `30 6 * * MON-FRI`, `@daily`, `@every 4h`; several are added together.'),
    timezone: timezone.optional().describe('Of the hours in `cron`, such as `Europe/Berlin`. Default: UTC.'),
    overlap: z
      .enum(OVERLAP_POLICIES)
      .optional()
      .describe('What happens to a run that is due while the last one is running. Default: `skip`.'),
    paused: z.boolean().optional().describe('Start nothing until it is resumed.'),
  })
  .meta({ id: 'NewSchedule' });

const scheduledRun = z.strictObject({
  workflow_id: z.string(),
  run: z.string().describe('Id of the run, as below /api/v1/runs.'),
  scheduled_at: timestamp,
  started_at: timestamp,
});

const scheduleSchema = z
  .strictObject({
    name: z.string(),
    kind: z.string(),
    site: z.string().nullable(),
    cluster: z.int().nullable(),
    input: anyJson.describe('Input of each run.'),
    cron: z.array(z.string()).describe('When, as Temporal understood it.'),
    timezone: timezone.describe('Of the hours in `cron`.'),
    overlap: z.string(),
    paused: z.boolean(),
    note: z.string().nullable().describe('Who paused or resumed it last, and why.'),
    next_times: z.array(timestamp).describe('The next ten. While it is paused, nothing starts at them.'),
    recent: z.array(scheduledRun).describe('Runs it started last, newest first.'),
    started: z.int().describe('Runs it has started.'),
    skipped: z.int().describe('Runs left out because the last one was running.'),
    missed: z.int().describe('Runs left out because Temporal was away.'),
    created_by: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Schedule', description: 'Starts runs at set times.' });

const scheduleListSchema = z.strictObject({ items: z.array(scheduleSchema) }).meta({ id: 'ScheduleList' });

export type Schedule = Wire<typeof scheduleSchema>;

const params = z.strictObject({ schedule: z.string().min(1).max(1000).describe('Name of the schedule.') });
const change = { access: 'operator', params } as const;

export const scheduleRoutes = tagged('schedules', {
  'POST /schedules': {
    id: 'createSchedule',
    access: 'operator',
    summary: 'Start runs at set times',
    description:
      'A run that is due while another one has its site or cluster ends at once and changes nothing; the next is due as usual.',
    body: newScheduleBody,
    answers: { 201: scheduleSchema },
    also: [404, 409],
  },
  'GET /schedules': {
    id: 'listSchedules',
    access: 'viewer',
    summary: 'List schedules with their next times, by name',
    answers: { 200: scheduleListSchema },
  },
  'GET /schedules/:schedule': {
    id: 'getSchedule',
    access: 'viewer',
    summary: 'Show a schedule',
    params,
    answers: { 200: scheduleSchema },
  },
  'POST /schedules/:schedule/pause': {
    ...change,
    id: 'pauseSchedule',
    summary: 'Pause a schedule: it starts no runs; running ones continue',
    body: operatorBody,
    answers: { 200: scheduleSchema },
  },
  'POST /schedules/:schedule/resume': {
    ...change,
    id: 'resumeSchedule',
    summary: 'Resume a paused schedule',
    body: operatorBody,
    answers: { 200: scheduleSchema },
  },
  'POST /schedules/:schedule/run': {
    ...change,
    id: 'runSchedule',
    summary: 'Start a run of a schedule now, even while it is paused; its overlap policy applies',
    body: operatorBody,
    answers: { 202: scheduleSchema.describe('Temporal starts it in a moment; `recent` shows it then.') },
  },
  'DELETE /schedules/:schedule': {
    ...change,
    id: 'deleteSchedule',
    summary: 'Delete a schedule; its runs stay',
    answers: gone,
  },
});
