import { z } from 'zod';
import {
  actorName,
  flagQuery,
  nameText,
  pageOf,
  pageQuery,
  revisionParams,
  siteParams,
  timestamp,
} from './primitives.ts';
import { diagnosticSchema } from './problem.ts';
import { tagged } from './route.ts';
import { differenceQuery, siteDifferenceSchema, strategySchema } from './strategy.ts';
import type { Wire } from './wire.ts';

const documentFileSchema = z
  .strictObject({
    name: nameText(500).describe('As diagnostics name it.'),
    text: z.string().describe('YAML; one or many documents.'),
  })
  .meta({ id: 'DocumentFile' });

const files = z.array(documentFileSchema).min(1).max(10_000);
const message = z.string().max(10_000);

const documentsBody = z.strictObject({ files }).meta({ id: 'Documents' });

const newRevisionBody = z
  .strictObject({
    files,
    message: message.optional().describe('What changed and why.'),
    author: actorName.optional(),
    force: z.boolean().optional().describe('Store it although it has errors; it cannot be deployed.'),
    dry_run: z.boolean().optional().describe('Dry run: only report what a commit would report.'),
  })
  .meta({ id: 'NewRevision' });

/** For a body of YAML, which cannot contain it. */
const checkQuery = z.strictObject({
  name: nameText(500).optional().describe('Of a YAML body: name of the file. Default `documents.yaml`.'),
});

const newRevisionQuery = checkQuery.extend({
  message: message.optional().describe('With a YAML body: what changed and why.'),
  author: actorName.optional().describe('With a YAML body: who commits.'),
  force: flagQuery.optional().describe('With a YAML body: store it although it has errors.'),
  dry_run: flagQuery.optional().describe('With a YAML body: only report.'),
});

export const revisionSchema = z
  .strictObject({
    site: z.string(),
    number: z.int().describe('1, 2, 3 … within the site.'),
    hash: z.string().describe('SHA-256 over the files; 64 hexadecimal digits.'),
    forced: z.boolean().describe('Stored although it has errors.'),
    diagnostics: z.array(diagnosticSchema),
    author: z.string().nullable(),
    message: z.string().nullable(),
    commit_id: z.string().nullable().describe('The commit of the followed branch that it comes from.'),
    commit_url: z.string().nullable().describe('Its page; null where none is known.'),
    created_at: timestamp,
    file_count: z.int(),
    size: z.int().describe('Bytes of all files together.'),
    last_good: z.boolean().describe('Whether it is the last successfully deployed one.'),
  })
  .meta({ id: 'Revision', description: 'An immutable set of documents of a site.' });

export const revisionPageSchema = pageOf(revisionSchema).meta({ id: 'RevisionPage' });

const revisionFilesSchema = z
  .strictObject({ revision: z.int(), hash: z.string(), files: z.array(documentFileSchema) })
  .meta({ id: 'RevisionFiles' });

const renderedRevisionSchema = z
  .strictObject({
    revision: z.int(),
    hash: z.string(),
    documents: z
      .array(
        z.strictObject({
          schema: z.string(),
          metadata: z.record(z.string(), z.unknown()),
          data: z.unknown(),
        }),
      )
      .describe('What a document takes values from comes before it.'),
  })
  .meta({ id: 'RenderedRevision' });

const check = {
  valid: z.boolean(),
  diagnostics: z.array(diagnosticSchema),
  nodes: z.int().describe('Nodes that the documents describe.'),
  groups: z.int().describe('Deployment groups; one when there is no strategy.'),
};

const documentCheckSchema = z.strictObject(check).meta({ id: 'DocumentCheck' });

const commitSchema = z
  .strictObject({
    ...check,
    revision: revisionSchema.nullable().describe('Null for a dry run.'),
    created: z.boolean().describe('False when the documents equal the latest revision, and for a dry run.'),
  })
  .meta({ id: 'Commit' });

export type Revision = Wire<typeof revisionSchema>;

/** Documents of a site of thousands of machines, in one request. */
const bodyLimit = 32 * 1024 * 1024;

export const revisionRoutes = tagged('revisions', {
  'POST /sites/:site/revisions': {
    id: 'commitRevision',
    budget: 'reading',
    access: 'operator',
    summary: "Commit documents as the site's next revision",
    description:
      'All problems are reported together, with their places. Documents with errors are stored only if forced. One file may be sent as it is, too: `Content-Type: application/yaml`.',
    params: siteParams,
    query: newRevisionQuery,
    body: newRevisionBody,
    bodyLimit,
    answers: {
      200: commitSchema.describe('Nothing was stored: a dry run, or no change from the latest revision.'),
      201: commitSchema.describe('Stored.'),
    },
  },
  'POST /documents/check': {
    id: 'checkDocuments',
    budget: 'reading',
    access: 'viewer',
    summary: 'Check documents without a site; nothing is stored',
    description:
      'All problems are reported together, with their places. One file may be sent as it is, too: `Content-Type: application/yaml`.',
    query: checkQuery,
    body: documentsBody,
    bodyLimit,
    answers: { 200: documentCheckSchema },
    alone: true,
  },
  'GET /sites/:site/revisions': {
    id: 'listRevisions',
    access: 'viewer',
    summary: "List a site's revisions, newest first",
    params: siteParams,
    query: pageQuery,
    answers: { 200: revisionPageSchema },
  },
  'GET /sites/:site/revisions/:ref': {
    id: 'getRevision',
    access: 'viewer',
    summary: 'Show a revision, without its files',
    params: revisionParams,
    answers: { 200: revisionSchema },
    also: [409],
  },
  'GET /sites/:site/revisions/:ref/files': {
    id: 'getRevisionFiles',
    access: 'viewer',
    summary: 'Read the files of a revision, as they were committed',
    params: revisionParams,
    answers: { 200: revisionFilesSchema },
    also: [409],
  },
  'GET /sites/:site/revisions/:ref/rendered': {
    id: 'getRenderedRevision',
    budget: 'reading',
    access: 'viewer',
    summary: 'Read the documents of a revision, rendered: with the values of their layers and substitutions',
    params: revisionParams,
    answers: { 200: renderedRevisionSchema },
    also: [409],
  },
  'GET /sites/:site/revisions/:ref/strategy': {
    id: 'getStrategy',
    access: 'viewer',
    summary: "Show a revision's deployment groups with their nodes, order and thresholds",
    params: revisionParams,
    answers: { 200: strategySchema },
    also: [409],
  },
  'GET /sites/:site/revisions/:ref/difference': {
    id: 'compareRevisions',
    access: 'viewer',
    summary: 'Compare a revision with the last deployed one, or with another',
    params: revisionParams,
    query: differenceQuery,
    answers: { 200: siteDifferenceSchema },
  },
});
