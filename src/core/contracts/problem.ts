import { z } from 'zod';
import type { Wire } from './wire.ts';

export const diagnosticSchema = z
  .strictObject({
    severity: z.enum(['error', 'warning', 'info']),
    code: z.string().describe('Stable, e.g. `strategy.unknown-dependency`.'),
    message: z.string(),
    hint: z.string().optional().describe('The next step.'),
    file: z.string().optional(),
    line: z.int().optional().describe('From 1.'),
    column: z.int().optional().describe('From 1, in characters.'),
    text: z.string().optional().describe('The offending text.'),
    path: z.string().optional().describe('Where in the document or request, e.g. `data.groups[2].name`.'),
  })
  .meta({ id: 'Diagnostic', description: 'A problem in user input, with its place.' });

/** Every answer with an error status: RFC 9457 with our additions. */
export const problemSchema = z
  .strictObject({
    type: z.string().describe('Identifies the kind of problem: `urn:sitewright:problem:CODE`.'),
    title: z.string().describe('Title of the kind of problem; the same for every problem with this code.'),
    status: z.int(),
    detail: z.string().describe('The error in this case.'),
    instance: z.string().describe('The requested path.'),
    code: z.string().describe('Stable; for programs.'),
    hint: z.string().optional().describe('The next step.'),
    errors: z.array(diagnosticSchema).describe('All findings; empty if `detail` is the only one.'),
    run: z.strictObject({ id: z.string(), workflow_id: z.string() }).optional().describe('The conflicting run.'),
    request_id: z.string().describe('Id of the request in the log of the API.'),
    message: z.string().describe('`detail`, `errors` and `hint` in one text: Fuel’s clients print only this.'),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused or failed (RFC 9457).' });

export type ProblemBody = Wire<typeof problemSchema>;
