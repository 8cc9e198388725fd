/**
 * Rehearses a deployment of the recorded library on a cluster of many nodes, and a deployment of a site of many nodes, as the API
 * does it. Prints elapsed and processor seconds, of which how many in the caller's own thread; the longest time that this thread
 * answered no one, and worked meanwhile; the most memory of the process; and the size of the answer. Usage: node bench/rehearsal.ts [cluster|site] [nodes]
 */
import './bounded.ts';
import { loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MaasConfigurationError } from '@sitewright/maas';
import type { Rehearsal } from '../src/core/contracts/rehearsals.ts';
import { createOperations } from '../src/ops/index.ts';
import { openStore } from '../src/store/index.ts';
import { resolvedRevision } from '../test/rig/resolved-revision.ts';
import { openRehearser } from '../worker/parts/rehearsals/rehearser.ts';
import { storeRecordedCluster } from './recorded-installation.ts';
import { siteDocuments } from './site-documents.ts';

const what = process.argv[2] ?? 'cluster';
const nodes = Number(process.argv[3] ?? (what === 'site' ? 1_000 : 850));
const GROUPS = 20;

const store = await openStore('sqlite::memory:');
await store.migrate();
const rehearser = openRehearser({
  settings: { max_parallel_nodes: 64, heartbeat_seconds: 30, offline_wait_seconds: 120 },
});
const { rehearsals } = createOperations({
  store,
  temporal: {} as never,
  maas: () => {
    throw new MaasConfigurationError(['MAAS is not configured: set maas.url']);
  },
  rehearser,
});

async function prepared(): Promise<() => Promise<Rehearsal>> {
  if (what === 'site') {
    const names = Array.from({ length: nodes }, (_unused, index) => `n${String(index).padStart(5, '0')}`);
    const documents = [{ name: 'site.yaml', text: siteDocuments(names, GROUPS) }];
    await store.sites.create({ name: 'bench' });
    await store.sites.addRevision('bench', resolvedRevision(documents));
    return () => rehearsals.site('deploy_site', { site: 'bench' }, {});
  }
  const { id } = await storeRecordedCluster(store, 'bench', nodes);
  return () => rehearsals.cluster({ cluster: id }, {});
}

const rehearse = await prepared();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const [from, own, all] = [performance.now(), process.threadCpuUsage(), process.cpuUsage()];
const secondsOf = ({ user, system }: NodeJS.CpuUsage): number => Math.round((user + system) / 1e5) / 10;
let [looked, longest] = [process.threadCpuUsage(), 0];
const looks = setInterval(() => {
  const { user, system } = process.threadCpuUsage(looked);
  looked = process.threadCpuUsage();
  longest = Math.max(longest, user + system);
}, 5);
let answer: Rehearsal | undefined;
try {
  answer = await rehearse();
} catch (error) {
  console.error(error);
}
const took = performance.now() - from;
const [ownUsed, allUsed] = [process.threadCpuUsage(own), process.cpuUsage(all)];
delay.disable();
clearInterval(looks);
console.log(
  JSON.stringify({
    ...{ what, nodes, load: Math.round(loadavg()[0]! * 10) / 10 },
    ...{ outcome: answer?.outcome, steps: answer && answer.steps.length + answer.steps_omitted },
    virtual_minutes: answer && Math.round(answer.seconds / 60),
    seconds: Math.round(took / 100) / 10,
    processor_seconds: secondsOf(allUsed),
    own_thread_seconds: secondsOf(ownUsed),
    longest_block_ms: Math.round(delay.max / 1e6),
    longest_work_ms: Math.round(longest / 1e3),
    megabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    answer_megabytes: answer && Math.round(JSON.stringify(answer).length / 1e5) / 10,
  }),
);
await rehearser.close();
await store.close();
