// Claims each given site, in turn, and prints which it got.
import { openStore } from '../../../../src/store/index.ts';
import { readyToGo, say } from './speak.ts';

const [url, ...sites] = process.argv.slice(2);
const store = await openStore(url!);
await readyToGo();
const got: string[] = [];
for (const site of sites) {
  const result = await store.claims.claim(
    { site },
    { workflowId: 'w', runId: String(process.pid), executionId: String(process.pid) },
  );
  if (result.claimed) got.push(site);
}
say(got);
await store.close();
process.exit();
