import { z } from 'zod';
import { OVERLAP_POLICIES, SCHEDULED_KINDS } from '../words.ts';
import { anyJson, plainName, timestamp } from './primitives.ts';
import { gone, tagged } from './route.ts';
import { operatorBody } from './runs.ts';
import type { Wire } from './wire.ts';

const timezone = z.string().min(1).max(100);

const newScheduleBody = z
  .strictObject({
    name: plainName,
    kind: z.enum(SCHEDULED_KINDS).describe('The workflow to start.'),
    input: z
      .record(z.string(), z.unknown())
      .describe('Input of each run, as for the workflow: `{"site": "dc1"}`, `{"cluster": 1}`.'),
    cron: z
      .array(z.string().min(1).max(200))
      .min(1)
      .max(20)
      .describe('Times: `30 6 * * MON-FRI`, `@daily`, `@every 4h`; several are combined.'),
    timezone: timezone.optional().describe('Time zone of `cron`, such as `Europe/Berlin`. Default: UTC.'),
    overlap: z
      .enum(OVERLAP_POLICIES)
      .optional()
      .describe('What to do if a run is due while the previous one is still running. Default: `skip`.'),
    paused: z.boolean().optional().describe('Create it paused: it starts no runs until it is resumed.'),
  })
  .meta({ id: 'NewSchedule' });

const scheduledRun = z.strictObject({
  workflow_id: z.string(),
  run: z.string().describe('Id of the run, as in /api/v1/runs.'),
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
    cron: z.array(z.string()).describe('Times, as Temporal parsed them.'),
    timezone: timezone.describe('Time zone of `cron`.'),
    overlap: z.string(),
    paused: z.boolean(),
    note: z.string().nullable().describe('Who last paused or resumed it, and why.'),
    next_times: z.array(timestamp).describe('The next ten times. Nothing starts while it is paused.'),
    recent: z.array(scheduledRun).describe('Its latest runs, newest first.'),
    started: z.int().describe('Number of runs it has started.'),
    skipped: z.int().describe('Runs skipped because the previous one was still running.'),
    missed: z.int().describe('Runs missed because Temporal was unavailable.'),
    created_by: z.string().nullable(),
    created_at: timestamp,
    temporal_url: z.string().nullable().describe("Its page in Temporal's Web UI; null if unknown."),
  })
  .meta({ id: 'Schedule', description: 'Starts runs at scheduled times.' });

const scheduleListSchema = z.strictObject({ items: z.array(scheduleSchema) }).meta({ id: 'ScheduleList' });

export type Schedule = Wire<typeof scheduleSchema>;

const params = z.strictObject({ schedule: z.string().min(1).max(1000).describe('Name of the schedule.') });
const change = { access: 'operator', params } as const;

export const scheduleRoutes = tagged('schedules', {
  'POST /schedules': {
    id: 'createSchedule',
    access: 'operator',
    summary: 'Create a schedule that starts runs',
    description:
      'A run that is due while another one holds its site or cluster ends immediately and changes nothing; the next one starts as usual.',
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
    answers: { 202: scheduleSchema.describe('Temporal starts it shortly; then `recent` lists it.') },
  },
  'DELETE /schedules/:schedule': {
    ...change,
    id: 'deleteSchedule',
    summary: 'Delete a schedule, but not its runs',
    answers: gone,
  },
});
