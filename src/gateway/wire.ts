import { z } from 'zod';
import { nameText } from '../core/contracts/primitives.ts';

const name = nameText(1000);

export const enrolRequest = z.strictObject({ token: name, request: z.string().max(8000) });
export const renewRequest = z.strictObject({ request: z.string().max(8000) });

export const orderRequest = z.strictObject({
  run: name,
  task: name,
  node: name,
  generation: z.int().min(1),
  plan: name,
  type: name,
  mode: z.enum(['apply', 'noop']),
  debug: z.literal(true).optional(),
});

const executionKey = z.strictObject({ run: name, task: name, node: name, generation: z.int().min(1) });
/** Requests for a task contain only its key; a drain request, the process to drain. */
export const cancelRequest = executionKey;
export const drainRequest = z.strictObject({ instance: name });
export const secretRequest = executionKey.extend({ ref: name });
export const sourceRequest = executionKey.extend({ path: nameText(4095) });
export const resultRequest = executionKey.extend({ result: z.looseObject({ v: z.literal(1) }) });
/** Sent as a query, so numbers arrive as text. */
export const outputRequest = executionKey.extend({
  generation: z.coerce.number().int().min(1),
  stream: z.enum(['stdout', 'stderr']),
  offset: z.coerce.number().int().min(0),
});
export const alarmRequest = z.strictObject({
  kind: z.string().regex(/^[a-z][a-z-]{0,49}$/),
  message: z.string().min(1).max(1000),
  run: name.optional(),
  task: name.optional(),
  generation: z.int().min(1).optional(),
});

export const orderKeysAnswer = z.object({
  order_keys: z.array(z.object({ id: z.string(), public_key: z.string() })),
});

/** Credentials of a node to identify itself and us. */
export const enrolmentAnswer = orderKeysAnswer.extend({
  certificate: z.string(),
  authority: z.string(),
  site: z.string(),
  node: z.string(),
  queues: z.object({ tasks: z.string(), control: z.string() }),
  temporal: z.object({ address: z.string(), namespace: z.string(), prefix: z.string().exactOptional() }),
});
export type EnrolmentAnswer = z.output<typeof enrolmentAnswer>;

/** Codes of refusals of orders: the run is paused; it ends. */
export const [HELD, WITHDRAWN] = ['held', 'withdrawn'];

export const problemAnswer = z.object({ code: z.string(), message: z.string(), file_code: z.string().optional() });

/** Maximum bytes of one chunk of output. */
export const LARGEST_CHUNK = 256 * 1024;
