import { z } from 'zod';

/** How repositories that sites follow are read. */
export const gitSettings = z.strictObject({
  allow_local: z
    .enum(['on', 'off'])
    .default('off')
    .describe('Whether sites may follow `file:` addresses, which are repositories on the machine of the worker.'),
  hosts: z
    .string()
    .default('')
    .describe(
      'Hosts, separated by commas, whose repositories sites may follow: `git.example.org`, or `*.example.org` for all below it. Workers contact no other host, and send no credential elsewhere.',
    ),
  timeout_seconds: z
    .number()
    .min(1)
    .max(3_600)
    .default(120)
    .describe('How long fetching a branch may take, in seconds.'),
  max_megabytes: z.number().min(1).max(10_000).default(64).describe('Largest repository, as it is fetched.'),
});
