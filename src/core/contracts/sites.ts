import { z } from 'zod';
import { checkFields } from '../data/schema.ts';
import { OUT_OF_SERVICE } from '../node-system.ts';
import { holdNames } from '../run/description.ts';
import { branchProblem, folderProblem, gitUrlProblem, repositorySecretProblem } from '../sources/git-source.ts';
import { holdBefore } from './approval.ts';
import { plainName, siteParams, timestamp } from './primitives.ts';
import { gone, tagged } from './route.ts';

const newSiteBody = z
  .strictObject({
    name: plainName,
    cluster: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Cluster whose software graph runs on the site once it is deployed.'),
  })
  .meta({ id: 'NewSite' });

const source = z
  .strictObject({
    url: z.string().min(1).max(2_000).describe('Any address that git takes: `https://…`, `ssh://…`, `git@host:path`.'),
    branch: z.string().min(1).max(250),
    folder: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Folder of the documents in the repository. Default: the whole repository.'),
    credential: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Name of the secret for reading it: `USER:PASSWORD` or a token for http, a private key for ssh.'),
    webhook_secret: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Name of the secret that signs webhooks. Default: no webhook.'),
    hold_before: holdBefore.describe(
      'Groups before which runs started by webhooks wait for approval; `*`: before any change.',
    ),
  })
  .meta({ id: 'GitSource', description: 'The branch that a site follows.' });

const newSourceBody = source.superRefine(
  ({ url, branch, folder, credential, webhook_secret, hold_before }, context) => {
    const holds = hold_before && checkFields(holdNames, hold_before);
    const problems = {
      url: gitUrlProblem(url),
      branch: branchProblem(branch),
      folder: folder && folderProblem(folder),
      credential: credential && repositorySecretProblem(credential),
      webhook_secret: webhook_secret && repositorySecretProblem(webhook_secret),
      hold_before: holds && !holds.ok ? holds.problems[0]?.message : undefined,
    };
    for (const [field, message] of Object.entries(problems))
      if (message) context.addIssue({ code: 'custom', path: [field], message });
  },
);

export const siteSchema = z
  .strictObject({
    name: z.string(),
    cluster: z.string().nullable(),
    source: source.nullable().describe('The branch of its documents; null if it follows none.'),
    created_at: timestamp,
    latest_revision: z.int().nullable(),
    last_good_revision: z.int().nullable().describe('The last successfully deployed revision.'),
    out_of_service: z
      .array(z.strictObject({ state: z.enum(OUT_OF_SERVICE), count: z.int(), nodes: z.array(z.string()) }))
      .describe(
        'Machines that do not serve, and the first dozen by name: their deployment failed, they were released and not deployed again (`bare`), or they were never deployed.',
      ),
  })
  .meta({ id: 'Site' });

export const siteListSchema = z.strictObject({ items: z.array(siteSchema) }).meta({ id: 'SiteList' });

export const siteRoutes = tagged('sites', {
  'POST /sites': {
    id: 'createSite',
    access: 'operator',
    summary: 'Create a site',
    body: newSiteBody,
    answers: { 201: siteSchema },
    also: [409],
  },
  'GET /sites': {
    id: 'listSites',
    access: 'viewer',
    summary: 'List all sites, by name',
    answers: { 200: siteListSchema },
  },
  'GET /sites/:site': {
    id: 'getSite',
    access: 'viewer',
    summary: 'Show a site',
    params: siteParams,
    answers: { 200: siteSchema },
  },
  'PUT /sites/:site/source': {
    id: 'followBranch',
    access: 'operator',
    summary: 'Follow a branch of a Git repository for a site',
    description:
      'A run with `fetch` reads the documents from there: start one manually, by a schedule, or by a webhook.',
    params: siteParams,
    body: newSourceBody,
    answers: { 200: siteSchema },
  },
  'DELETE /sites/:site/source': {
    id: 'unfollowBranch',
    access: 'operator',
    summary: 'Stop following the branch of a site',
    params: siteParams,
    answers: { 200: siteSchema },
  },
  'DELETE /sites/:site': {
    id: 'deleteSite',
    access: 'admin',
    summary: 'Delete a site with its revisions, but not its runs and audit entries',
    params: siteParams,
    answers: gone,
    also: [409],
  },
});

/** Guarded by its signature, not by a token. */
export const webhookRoutes = tagged('sites', {
  'POST /sites/:site/source/webhook': {
    id: 'receivePush',
    access: 'anyone',
    summary: 'Webhook for a push to the branch that a site follows; starts `update_site` with `fetch`',
    description:
      'Signed with the secret of the site, as GitHub and Gitea do (`X-Hub-Signature-256`: HMAC-SHA256 of the body) or GitLab (`X-Gitlab-Token`). A push to another branch starts nothing.',
    params: siteParams,
    body: z.unknown().meta({ id: 'Push', description: 'The payload from the host of the repository.' }),
    answers: {
      202: z
        .strictObject({ run: z.string().nullable().describe('Id of the run; null for none.') })
        .meta({ id: 'PushAnswer' }),
    },
    also: [401, 409],
  },
});
