import { describe, expect, it } from 'vitest';
import { wantedSeries } from '../../../src/ops/health.ts';
import { openStore } from '../../../src/store/index.ts';
import { resolvedRevision } from '../../rig/resolved-revision.ts';

const node = (name: string, series: string) => `schema: drydock/BaremetalNode/v1
metadata:
  schema: metadata/Document/v1
  name: ${name}
data:
  platform:
    image: ${series}
---
schema: shipyard/DeploymentConfiguration/v1
metadata:
  schema: metadata/Document/v1
  name: deployment-configuration
data:
  armada:
    manifest: full-site
`;

describe('the wanted Ubuntu series', () => {
  it('are those of the settings and of the latest documents of every site', async () => {
    const store = await openStore(':memory:');
    await store.migrate();
    await store.sites.create({ name: 'empty' });
    await store.sites.create({ name: 'dc1' });
    await store.sites.addRevision('dc1', resolvedRevision([{ name: 'a.yaml', text: node('n1', 'bionic') }]));
    await store.sites.addRevision('dc1', resolvedRevision([{ name: 'a.yaml', text: node('n1', 'noble') }]));
    expect([...(await wantedSeries({ store, distroSeries: 'jammy' }))].sort()).toEqual(['jammy', 'noble']);
    await store.close();
    // Images can be compared with the settings while the store is unreachable, too.
    expect(await wantedSeries({ store, distroSeries: 'jammy' })).toEqual(['jammy']);
  });
});
