// Commits revisions and nodes (more than fit one statement) without end, and prints each number once answered.
import { openStore } from '../../../../src/store/index.ts';
import { readyToGo, say } from './speak.ts';

const [url, site] = process.argv.slice(2);
const store = await openStore(url!);
await readyToGo();
const run = { id: site!, workflowId: 'w', kind: 'deploy_site', phase: 'x', startedAt: '2026-01-01T00:00:00Z' };
await store.runs.put({ ...run, sequence: 0 });
for (let n = 1; ; n++) {
  await store.sites.addRevision(site!, { files: [{ name: 'a', text: `${n} ${'x'.repeat(5000)}` }], resolved: null });
  await store.runs.putNodes(
    site!,
    Array.from({ length: 1100 }, (_, node) => ({
      node: `n${node}`,
      sequence: n,
      report: { name: `n${node}`, state: 'success', attempts: n, reason: `of ${n}` },
    })),
  );
  say(n);
}
