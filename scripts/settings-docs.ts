// Writes docs/reference/settings.md, and the settings in the schema of the Helm chart's values: `npm run docs:settings`.
import { readFileSync, writeFileSync } from 'node:fs';
import { CHART_SCHEMA, chartSchema } from './chart-schema.ts';
import { settingsReference } from './reference/settings.ts';

writeFileSync(new URL('../docs/reference/settings.md', import.meta.url), settingsReference());
writeFileSync(CHART_SCHEMA, chartSchema(readFileSync(CHART_SCHEMA, 'utf8')));
