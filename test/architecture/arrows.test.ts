import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseOptions, type ICruiseResult, type IViolation } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { expect, it } from 'vitest';
import config, { FOLDERS, PACKAGES } from '../../.dependency-cruiser.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const planted = fileURLToPath(new URL('planted/', import.meta.url));

async function violations(baseDir: string, folders: string[]): Promise<readonly IViolation[]> {
  // The configuration is plain JavaScript: to TypeScript its severities are any text.
  const options = {
    ...config.options,
    baseDir,
    validate: true,
    ruleSet: { forbidden: config.forbidden },
  } as ICruiseOptions;
  const result = await cruise(folders, options, {}, { tsConfig: extractTSConfig(`${root}tsconfig.json`) });
  return (result.output as ICruiseResult).summary.violations;
}

const inWords = ({ rule, from, to }: IViolation): string => `${rule.name}: ${from} -> ${to}`;

/** Fence 3 of the determinism line, and the architecture as a whole (`npm run architecture` shows the reasons). */
it('no import goes against the arrows', async () => {
  expect((await violations(root, ['workflows', 'activities', 'worker', 'src', 'packages'])).map(inWords)).toEqual([]);
});

it('every package and every folder of src is listed, and imports only folders listed before it', () => {
  const names = FOLDERS.map(([folder]) => folder);
  expect([...names].sort()).toEqual([...PACKAGES, ...readdirSync(`${root}src`)].sort());
  const upward = FOLDERS.flatMap(([folder, mayImport], at) =>
    mayImport.filter((other) => !names.slice(0, at).includes(other)).map((other) => `${folder} -> ${other}`),
  );
  expect(upward).toEqual([]);
});

it('the rules find each planted violation, and allow what is allowed', async () => {
  const found = (await violations(planted, ['workflows', 'activities', 'worker', 'src', 'packages'])).map(
    ({ rule, from }) => `${rule.name}: ${from}`,
  );
  expect([...new Set(found)].sort()).toEqual([
    'activities-are-verbs: activities/deep.ts',
    'api-is-thin: src/api/calls-temporal.ts',
    'cli-talks-http: src/cli/opens-store.ts',
    'core-is-pure: src/core/reads-files.ts',
    'folder-maas: packages/maas/src/knows-api.ts',
    'folder-yaql: packages/yaql/src/uses-core.ts',
    'no-cycles: src/core/ring-a.ts',
    'no-schemas-in-workflows: src/core/bundles-schemas.ts',
    'only-planning-uses-graphology: src/store/draws.ts',
    'packages-stand-alone: packages/maas/src/knows-api.ts',
    'packages-stand-alone: packages/yaql/src/uses-core.ts',
    'parts-start-nothing: worker/parts/starts-api.ts',
    'processes-know-the-terminal: worker/knows-command.ts',
    'processes-load-when-started: src/cli/loads-process.ts',
    'workflows-are-deterministic: workflows/bundles-zod.ts',
    'workflows-are-deterministic: workflows/does-io.ts',
    'workflows-see-types-only: workflows/bundles-zod.ts',
    'workflows-see-types-only: workflows/does-io.ts',
    'workflows-see-types-only: workflows/sees-activity.ts',
    'yaql-is-pure: packages/yaql/src/uses-core.ts',
  ]);
});
