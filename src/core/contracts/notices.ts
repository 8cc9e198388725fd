import { z } from 'zod';
import { NOTICE_EVENTS, NOTICE_FORMATS } from '../words.ts';
import { awaitingApproval } from './approval.ts';
import { timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import type { Wire } from './wire.ts';

const event = z.enum(NOTICE_EVENTS);

/** The body of a notice, as receivers get it: a promise to programs of others (docs/how-to/monitor.md). */
const noticeBody = z
  .strictObject({
    id: z.string().describe('Unchanged when the notice is sent again: process each id once.'),
    event,
    at: timestamp,
    text: z.string().describe('The notice as one sentence, for people.'),
    run: z
      .strictObject({
        id: z.string(),
        workflow_id: z.string(),
        kind: z.string(),
        site: z.string().nullable(),
        cluster: z.int().nullable(),
        title: z.string().optional(),
        started_by: z.string().optional(),
        url: z.string().optional().describe('Its page, if `notices.page_url` is set.'),
      })
      .nullable()
      .describe('Null in a test.'),
    reason: z.string().optional().describe('Why the run failed or is held.'),
    next_step: z.string().optional(),
    awaiting_approval: awaitingApproval,
  })
  .meta({ id: 'Notice', description: 'An event of a run that people should know about.' });

/** The request to a receiver. */
export type NoticeBody = Wire<typeof noticeBody>;
/** The same as runs know it. */
export type Notice = Omit<NoticeBody, 'id' | 'text'>;

const deliverySchema = z.strictObject({
  id: z.string(),
  notice: z.string().describe('Id of the notice.'),
  receiver: z.string(),
  event,
  run: z.string().nullable().describe('Id of the run.'),
  at: timestamp,
  attempt: z.int(),
  delivered: z.boolean(),
  status: z.int().nullable().describe('HTTP status of the answer; null without one.'),
  message: z.string().nullable().describe('Why it was not delivered.'),
  temporal_url: z.string().nullable().describe("What sent it, in Temporal's Web UI; null if unknown."),
});

/** Events that a receiver can ask for. */
const WANTED = NOTICE_EVENTS.filter((event) => event !== 'test');

/** A receiver as its file has it, and as a request makes one. */
export const newReceiverSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must have lower-case letters, digits, dot, underscore, hyphen'),
    url: z.url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' }),
    secret: z
      .string()
      .regex(/^.{16,}$/s, 'must have at least 16 characters')
      .optional()
      .describe('Signs the body. Shown nowhere.'),
    events: z.array(z.enum(WANTED)).min(1).default(WANTED).describe('Default: all.'),
    sites: z.array(z.string().min(1)).min(1).optional().describe('Only about runs on these. Default: all.'),
    format: z.enum(NOTICE_FORMATS).default('json'),
  })
  .meta({ id: 'NewNoticeReceiver' });

const receiver = z
  .strictObject({
    name: z.string(),
    address: z.string().describe('Scheme and host of its URL: the rest may be a secret.'),
    events: z.array(event),
    sites: z.array(z.string()).nullable().describe('Only about runs on these; null: all.'),
    format: z.enum(NOTICE_FORMATS),
    signed: z.boolean(),
    last: deliverySchema.nullable().describe('Result of the last attempt.'),
  })
  .meta({ id: 'NoticeReceiver' });

const receiverList = z.strictObject({ items: z.array(receiver) }).meta({ id: 'NoticeReceiverList' });
const deliveryList = z.strictObject({ items: z.array(deliverySchema) }).meta({ id: 'NoticeDeliveryList' });
export type NoticeDelivery = Wire<typeof deliverySchema>;
export type NoticeReceiver = Wire<typeof receiver>;

const params = z.strictObject({ receiver: z.string().min(1).max(100).describe('Name of the receiver.') });

export const noticeRoutes = tagged('notices', {
  'GET /notices/receivers': {
    id: 'listNoticeReceivers',
    access: 'viewer',
    summary: 'List the receivers of notices about runs',
    answers: { 200: receiverList },
  },
  'POST /notices/receivers': {
    id: 'createNoticeReceiver',
    access: 'admin',
    summary: 'Add a receiver of notices to the file of `notices.receivers_file`',
    description: 'Refused where there is no such file, or where the service may not write to it.',
    body: newReceiverSchema,
    answers: { 201: receiver },
    also: [409],
  },
  'GET /notices/deliveries': {
    id: 'listNoticeDeliveries',
    access: 'viewer',
    summary: 'List the last attempts to deliver notices, newest first',
    answers: { 200: deliveryList },
  },
  'POST /notices/receivers/:receiver/test': {
    id: 'testNoticeReceiver',
    access: 'operator',
    summary: 'Send a test notice to a receiver, once',
    params,
    answers: { 200: deliverySchema.meta({ id: 'NoticeDelivery' }) },
  },
});
