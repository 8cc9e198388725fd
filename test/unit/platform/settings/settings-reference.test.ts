import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { settingsReference } from '../../../../scripts/reference/settings.ts';
import { settingDefinitions } from '../../../../src/platform/settings/settings.ts';

it('docs/reference/settings.md is generated from the schema (npm run docs:settings)', () => {
  expect(readFileSync(new URL('../../../../docs/reference/settings.md', import.meta.url), 'utf8')).toBe(
    settingsReference(),
  );
});

it('every setting is described, and no two share a variable', () => {
  for (const { path, description } of settingDefinitions) expect(description, path).toMatch(/[.:]$/);
  expect(new Set(settingDefinitions.map(({ variable }) => variable)).size).toBe(settingDefinitions.length);
});
