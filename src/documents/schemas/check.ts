import { z } from 'zod';
import { CHECK_LIMITS } from '../../core/checks/check.ts';
import { HOST, HTTP_ADDRESS } from '../../core/checks/question-text.ts';
import { secondsIn, TIME } from '../../core/rollout/policy.ts';
import { syntaxProblem } from '../expression-syntax.ts';
import { CHECK_SCHEMA } from './envelope.ts';

const expression = z.strictObject({
  yaql_exp: z
    .string()
    .min(1)
    .max(2_000)
    .superRefine((text, context) => {
      const problem = syntaxProblem(text);
      if (problem !== undefined)
        context.addIssue({
          code: 'custom',
          message: `cannot be parsed: ${problem.message}`,
          params: { hint: problem.hint },
        });
    })
    .describe(
      'A YAQL expression. `$.node` has the name, address, rack, tags and labels of a node, `$.site` the name of the site.',
    ),
});

const computed = (what: string, fixed: z.ZodString) =>
  z.union([fixed, expression], { error: 'must be text, or {yaql_exp: …}' }).describe(what);

const address = (what: string) =>
  computed(
    what,
    z.string().max(2_000).regex(HTTP_ADDRESS, {
      error: 'must be an address that begins with http:// or https://, without user and password',
    }),
  );

const time = (what: string, key: keyof typeof CHECK_LIMITS) =>
  z
    .string()
    .regex(TIME, { error: 'must be a time such as "10s" or "2m"' })
    .refine((text) => !TIME.test(text) || (secondsIn(text) ?? Number.POSITIVE_INFINITY) <= CHECK_LIMITS[key], {
      error: `must be at most ${CHECK_LIMITS[key]} seconds`,
    })
    .describe(what)
    .optional();

const number = z.number();

const condition = z
  .strictObject({
    above: number.describe('The value must be greater.').optional(),
    below: number.describe('The value must be less.').optional(),
    between: z
      .tuple([number, number])
      .refine(([least, most]) => least <= most, { error: 'must have the smaller number first' })
      .describe('The value must be one of these two, or between them.')
      .optional(),
  })
  .refine((one) => Object.keys(one).length === 1, { error: 'must have one of above, below and between' })
  .meta({
    description: 'When the values of the query are good: all of them must be.',
    minProperties: 1,
    maxProperties: 1,
  });

const KINDS = ['http', 'tcp', 'prometheus', 'command', 'graph'] as const;

/** Who may ask, other than the first of them. */
const FROM: Readonly<Record<(typeof KINDS)[number], readonly string[]>> = {
  http: ['worker', 'node', 'neighbour'],
  tcp: ['worker', 'node', 'neighbour'],
  prometheus: ['worker'],
  command: ['node'],
  graph: ['node'],
};

/** `data` of sitewright/Check/v1. */
export const checkDocumentSchema = z
  .strictObject({
    from: z
      .enum(['worker', 'node', 'neighbour'])
      .describe(
        'Who asks: a worker, each node about itself through its agent, or another node of its rack. Default: `worker`; of `command` and `graph` `node`.',
      )
      .optional(),
    http: z
      .strictObject({
        url: address('Address of the request, a GET.'),
        status: z
          .int()
          .min(100)
          .max(599)
          .describe('The good status. Redirects are not followed. Default: 200.')
          .optional(),
        contains: computed(
          'Text that the first 64 KB of the answer must have.',
          z.string().min(1).max(1_000),
        ).optional(),
      })
      .describe('Asks by HTTP.')
      .optional(),
    tcp: z
      .strictObject({
        host: computed(
          'Name or address of the host.',
          z.string().regex(HOST, { error: 'must be the name or address of a host' }),
        ),
        port: z.int().min(1).max(65_535).describe('Port that must accept a connection.'),
      })
      .describe('Opens a TCP connection.')
      .optional(),
    prometheus: z
      .strictObject({
        url: address('Base URL of Prometheus.'),
        query: computed('An instant query, in PromQL.', z.string().min(1).max(2_000)),
        is: condition,
      })
      .describe('Asks Prometheus for values. No result is no answer, which is not well.')
      .optional(),
    command: z
      .strictObject({ cmd: computed('A bash script; well with exit code 0.', z.string().min(1).max(4_000)) })
      .describe('Runs a script on each node, through its agent.')
      .optional(),
    graph: z
      .strictObject({ type: z.string().min(1).max(100).describe('Its type, such as `health`.') })
      .describe('Runs a graph of the cluster of the site on each node. Well if no task failed there.')
      .optional(),
    within: time('A service that starts may take so long until its first good answer. Default: no time.', 'within'),
    every: time('Time between two questions. Default: "5s".', 'every'),
    failures: z
      .int()
      .min(1)
      .max(CHECK_LIMITS.failures)
      .describe('So many answers in a row that are not good end the check, once `within` is over. Default: 2.')
      .optional(),
    timeout: time('Longest time for one answer. Default: "10s".', 'timeout'),
  })
  .refine((check) => KINDS.filter((kind) => check[kind] !== undefined).length === 1, {
    error: `must have one of ${KINDS.slice(0, -1).join(', ')} and ${KINDS.at(-1)}`,
  })
  .superRefine((check, context) => {
    const kind = KINDS.find((one) => check[one] !== undefined);
    if (kind === undefined || check.from === undefined || FROM[kind].includes(check.from)) return;
    context.addIssue({ code: 'custom', path: ['from'], message: `must be ${FROM[kind].join(' or ')} for ${kind}` });
  })
  .meta({ description: 'A check: well with its first good answer.' });

/** `checks` of a package: the same documents as in a site. */
export const packageChecksSchema = z
  .array(
    z.looseObject({
      schema: z.literal(CHECK_SCHEMA),
      metadata: z.looseObject({ name: z.string().min(1) }),
      data: checkDocumentSchema,
    }),
  )
  .superRefine((checks, context) => {
    const names = checks.map(({ metadata }) => metadata.name);
    for (const [at, name] of names.entries())
      if (names.indexOf(name) < at)
        context.addIssue({
          code: 'custom',
          path: [at, 'metadata', 'name'],
          message: `must be the name of one check: ${name} is above already`,
        });
  });
