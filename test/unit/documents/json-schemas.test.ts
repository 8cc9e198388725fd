import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { exportJsonSchemas, parseYaml } from '../../../src/documents/index.ts';

const published = new URL('../../../docs/schemas/', import.meta.url);
const schemas = exportJsonSchemas();
const data = new URL('../../data/shipyard/', import.meta.url);

describe('the published JSON Schemas', () => {
  // Out of step? `npx vitest run test/unit/documents/json-schemas -u` writes them again.
  it.each(Object.keys(schemas))('%s is the one in docs/schemas', async (file) => {
    const text = `${JSON.stringify(schemas[file], null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(fileURLToPath(new URL(file, published)));
  });

  it('are all files of docs/schemas', () => {
    expect(readdirSync(published).sort()).toEqual(Object.keys(schemas).sort());
  });
});

describe('read back as schemas', () => {
  const byKind: Record<string, string> = {
    'shipyard/DeploymentStrategy/v1': 'deployment-strategy.schema.json',
    'shipyard/DeploymentConfiguration/v1': 'deployment-configuration.schema.json',
    'drydock/BaremetalNode/v1': 'baremetal-node.schema.json',
  };
  const files = readdirSync(data).filter((name) => name.endsWith('.yaml'));

  it.each(files)('accept or refuse %s as its publishers do', (name) => {
    for (const { value } of parseYaml(readFileSync(new URL(name, data), 'utf8')).documents) {
      const file = byKind[(value as { schema: string }).schema]!;
      const judge = z.fromJSONSchema(schemas[file] as Parameters<typeof z.fromJSONSchema>[0]);
      expect(judge.safeParse(value).success, name).toBe(!name.includes('-bad-'));
    }
  });
});
