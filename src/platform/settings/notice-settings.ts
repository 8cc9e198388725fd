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
