import { z } from 'zod';

/** Where notices about runs are sent. */
export const noticeSettings = z.strictObject({
  receivers_file: z
    .string()
    .min(1)
    .meta({ isPath: true, ownSecret: 'the receivers of notices' })
    .optional()
    .meta({ reload: true, example: 'notices.yaml' })
    .describe(
      'File (YAML) with the URLs that are called when a run fails, is held or waits for approval (docs/how-to/monitor.md). API and worker need the same file. None: no notices.',
    ),
  page_url: z
    .url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' })
    .optional()
    .meta({ example: 'https://sitewright.example' })
    .describe('URL under which browsers reach the API, for links in notices. None: no links.'),
  give_up_hours: z
    .number()
    .min(0.01)
    .max(720)
    .default(24)
    .describe('Hours after which an undelivered notice is given up.'),
});

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
