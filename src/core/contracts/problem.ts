import { z } from 'zod';
import type { Wire } from './wire.ts';

export const diagnosticSchema = z
  .strictObject({
    severity: z.enum(['error', 'warning', 'info']),
    code: z.string().describe('Stable, e.g. `strategy.unknown-dependency`.'),
    message: z.string(),
    hint: z.string().optional().describe('What to do next.'),
    file: z.string().optional(),
    line: z.int().optional().describe('From 1.'),
    column: z.int().optional().describe('From 1, in characters.'),
    text: z.string().optional().describe('The offending text itself.'),
    path: z.string().optional().describe('Where in the document or request, e.g. `data.groups[2].name`.'),
  })
  .meta({ id: 'Diagnostic', description: 'One finding about something a user wrote, with its place.' });

/** Every answer with an error status: RFC 9457 with our additions. */
export const problemSchema = z
  .strictObject({
    type: z.string().describe('Identifies the kind of problem: `urn:sitewright:problem:CODE`.'),
    title: z.string().describe('The kind of problem in words; the same for every problem of this code.'),
    status: z.int(),
    detail: z.string().describe('What went wrong this time.'),
    instance: z.string().describe('The path that was asked for.'),
    code: z.string().describe('Stable; what programs look at.'),
    hint: z.string().optional().describe('What to do next.'),
    errors: z.array(diagnosticSchema).describe('All findings at once; empty where there is but one thing to say.'),
    run: z.strictObject({ id: z.string(), workflow_id: z.string() }).optional().describe('The run that is in the way.'),
    request_id: z.string().describe('Names the request in the log of the API.'),
    message: z.string().describe('The same as `detail`; older clients print it.'),
  })
  .meta({ id: 'Problem', description: 'Why a request was not carried out (RFC 9457).' });

export type ProblemBody = Wire<typeof problemSchema>;
