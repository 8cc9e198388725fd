import { z } from 'zod';
import { anyJson } from '../../../core/contracts/primitives.js';
import { commaList, flagText } from '../request-parts.js';
import { jsonObject } from './release-schemas.js';

export const settingsBody = z
  .strictObject({
    editable: anyJson.optional().describe('Groups of settings, as GET answers them.'),
    generated: anyJson.optional().describe('Made by the service: refused, with the reason.'),
  })
  .meta({ id: 'SettingsChanges' });

export const settingsSchema = z
  .strictObject({ editable: z.looseObject({}).describe('Groups of settings by name.') })
  .meta({ id: 'Settings' });

export const forceQuery = z.strictObject({
  force: flagText.optional().describe('Taken for the sake of older clients; settings can be changed at any time.'),
});

export const factsQuery = z.strictObject({
  nodes: commaList('Ids of nodes wanted; all when not given'),
  split: flagText.optional().describe('Common data apart, as an entry `common`. Default: merged into each.'),
});

const fact = z.record(z.string(), anyJson);

export const deploymentFactsBody = z
  .array(fact)
  .min(1)
  .meta({ id: 'DeploymentFacts', description: 'An entry for each node by its `uid`, and one of uid `common`.' });

export const deploymentFactsSchema = z.array(z.looseObject({ uid: z.string() })).meta({ id: 'DeploymentFactList' });

export const provisioningFactsBody = z
  .strictObject({ engine: jsonObject.nullable().optional(), nodes: z.array(fact) })
  .meta({ id: 'NewProvisioningFacts' });

/** Nothing uploaded: `{}`, which clients take for nothing. */
export const provisioningFactsSchema = z
  .strictObject({ engine: z.looseObject({}), nodes: z.array(z.looseObject({})) })
  .partial()
  .meta({ id: 'ProvisioningFacts' });
