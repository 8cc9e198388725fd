import { z } from 'zod';
import { VERSION_GAPS } from '../../words.ts';
import { anyJson, timestamp } from '../primitives.ts';
import { diagnosticSchema } from '../problem.ts';
import { tagged } from '../route.ts';
import type { Wire } from '../wire.ts';
import { flagText, idList, idNumber, idParams, idText } from './parts.ts';

const packageVersion = z.strictObject({ name: z.string(), version: z.string() }).meta({ id: 'PackageVersion' });

const partVersion = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    version: z.string(),
    package: packageVersion.nullable().describe('The package that brought it; null if it was made by hand.'),
  })
  .meta({ id: 'PartVersion' });

const builtOf = {
  release: partVersion,
  plugins: z.array(partVersion).describe('The enabled ones.'),
  settings: z.int().nullable().describe('Revision of the settings; null before their first change.'),
};

const nodeVersions = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    deployed: z
      .strictObject({
        run: z.int().describe('Number of the run that deployed it last.'),
        graph: z.string(),
        at: timestamp,
        ...builtOf,
      })
      .nullable()
      .describe('What it was deployed with last; null before that.'),
    revision: z.int().nullable().describe('Revision of the documents that its machine was deployed by.'),
    missed: z
      .array(
        z.strictObject({
          task: z.string(),
          graph: z.string(),
          why: z.string().describe('Why it did not run: its condition, with the values that it read.'),
        }),
      )
      .describe(
        'Tasks of that version that have changed since they succeeded on the node, and have not run there; up to 100. `graph execute --type GRAPH --missed` runs them.',
      ),
    behind: z
      .array(z.enum(VERSION_GAPS))
      .describe('How it differs from what its cluster is built of; empty if it does not.'),
  })
  .meta({ id: 'NodeVersions' });

const versionsSchema = z
  .strictObject({
    cluster: z.int(),
    ...builtOf,
    revision: z.int().nullable().describe('Revision of the documents of its site that was deployed successfully last.'),
    others: z.array(partVersion).describe('The other installed versions of its release and enabled plugins.'),
    nodes: z.array(nodeVersions),
  })
  .meta({ id: 'ClusterVersions' });

const settingChange = z.strictObject({ setting: z.string(), before: anyJson, after: anyJson });

const switched = z.strictObject({
  kind: z.enum(['release', 'plugin']),
  from: partVersion,
  to: partVersion,
});

const moveSchema = z
  .strictObject({
    cluster: z.int(),
    parts: z.array(switched).describe('What changes its version.'),
    settings: z.array(settingChange).describe('Settings that change with it. Others keep their values.'),
    graphs: z
      .array(
        z.strictObject({
          type: z.string(),
          owner: z.string().describe('Release or plugin that has the graph.'),
          added: z.array(z.string()).describe('Tasks by name.'),
          removed: z.array(z.string()),
          changed: z.array(z.string()),
        }),
      )
      .describe('Graphs that differ.'),
    findings: z.array(diagnosticSchema).describe('Errors refuse the move.'),
    digest: z
      .string()
      .describe('Of everything that the move depends on. Sent back, it is made as shown or not at all.'),
  })
  .meta({ id: 'ClusterMove' });

const moveQuery = z.strictObject({
  release: idText('release').optional(),
  plugins: idList('plugin', 'Ids of versions of plugins'),
  back: flagText.optional().describe('To where the last move came from, instead.'),
});

const moveBody = z
  .strictObject({
    release: idNumber('release').optional(),
    plugins: z.array(idNumber('plugin')).optional(),
    back: z.boolean().optional().describe('To where the last move came from, instead.'),
    digest: z
      .string()
      .max(100)
      .optional()
      .describe('Of the plan that was shown; the move is refused if it has changed.'),
  })
  .meta({ id: 'MoveCluster' });

export type ClusterVersionsAnswer = Wire<typeof versionsSchema>;
export type ClusterMovePlan = Wire<typeof moveSchema>;

const params = idParams('cluster');

export const versionRoutes = tagged('clusters', {
  'GET /clusters/:id/versions': {
    id: 'getClusterVersions',
    access: 'viewer',
    summary: 'Show what a cluster is built of, and which node was deployed with which versions and settings',
    params,
    answers: { 200: versionsSchema },
  },
  'GET /clusters/:id/move': {
    id: 'planClusterMove',
    access: 'viewer',
    summary: 'Show what moving a cluster to another version of its release or plugins changes',
    params,
    query: moveQuery,
    answers: { 200: moveSchema },
  },
  'POST /clusters/:id/move': {
    id: 'moveCluster',
    access: 'operator',
    summary: 'Move a cluster to another version of its release or plugins, or back',
    description: 'Nodes get it with the next deployment. Settings keep their values where the new version allows them.',
    params,
    body: moveBody,
    answers: { 200: moveSchema },
    also: [409],
  },
});
