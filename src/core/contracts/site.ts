import { z } from 'zod';
import { plainName, siteParams, timestamp } from './primitives.js';
import { gone, tagged } from './route.js';
import type { Wire } from './wire.js';

export const newSiteBody = z
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

export const siteSchema = z
  .strictObject({
    name: z.string(),
    cluster: z.string().nullable(),
    created_at: timestamp,
    latest_revision: z.int().nullable(),
    last_good_revision: z.int().nullable().describe('The revision that was deployed successfully last.'),
  })
  .meta({ id: 'Site' });

export const siteListSchema = z.strictObject({ items: z.array(siteSchema) }).meta({ id: 'SiteList' });

export type Site = Wire<typeof siteSchema>;
export type SiteList = Wire<typeof siteListSchema>;

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
  'DELETE /sites/:site': {
    id: 'deleteSite',
    access: 'admin',
    summary: 'Delete a site with its revisions; its runs and audit entries stay',
    params: siteParams,
    answers: gone,
    also: [409],
  },
});
