// Measures a gateway that thousands of agents come back to at once:
//   node bench/gateway.ts [agents=10000] [seconds of idleness=60]
// The gateway is the real one, over a store with the certificates of all. The agents are four processes with nothing of an agent but its
// connection, with a certificate of its own, and its pauses between tries. All ask at once (as after a restart of everything); then none
// asks; then the gateway is killed while all ask again, and is started again. Copy the result to bench/agents-results.md.
import './bounded.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CertificateAuthority } from '../src/gateway/identity/certificate-authority.ts';
import { newKeyPair, privateKeyPem } from '../src/gateway/identity/key-pair.ts';
import { freePort } from '../src/platform/free-port.ts';
import { openStore } from '../src/store/index.ts';
import { processorSeconds, residentMegabytes, startProgram } from './processes.ts';

const [agents = 10_000, idleSeconds = 60] = process.argv.slice(2).map(Number);
const PROCESSES = 4;
const folder = mkdtempSync(join(tmpdir(), 'sitewright-gateway-'));
const data = join(folder, 'gateway');
const port = await freePort();
const url = `https://127.0.0.1:${port}`;

const store = await openStore(`sqlite:${join(folder, 'store.db')}`);
await store.migrate();
await store.close();
const authority = new CertificateAuthority(data);

/** As enrolment leaves it, at once. */
function enrolAll(): readonly { key: string; certificate: string }[] {
  const db = new DatabaseSync(join(folder, 'store.db'));
  const insert = db.prepare(
    'insert into node_certificate (fingerprint, site, node, issued_at, expires_at) values (?, ?, ?, ?, ?)',
  );
  db.exec('begin');
  const all = Array.from({ length: agents }, (_unused, index) => {
    const { publicKey, privateKey } = newKeyPair();
    const issued = authority.issueNode('bench', `n${index}`, publicKey);
    const [from, to] = [issued.validFrom.toISOString(), issued.validTo.toISOString()];
    insert.run(issued.fingerprint, 'bench', `n${index}`, from, to);
    return { key: privateKeyPem(privateKey), certificate: issued.pem };
  });
  db.exec('commit');
  db.close();
  return all;
}

const startGateway = () =>
  startProgram(
    folder,
    'gateway',
    [process.execPath, fileURLToPath(new URL('../bin/sitewright', import.meta.url)), 'gateway'],
    {
      SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'store.db')}`,
      SITEWRIGHT_GATEWAY_HOST: '127.0.0.1',
      SITEWRIGHT_GATEWAY_PORT: String(port),
      SITEWRIGHT_GATEWAY_DATA_DIR: data,
      SITEWRIGHT_TASK_LOGS_FOLDER: join(folder, 'task-logs'),
    },
    (log) => log.includes('gateway ready'),
  );

/** The gateway's own process: `startProgram` has one before it. */
const pidOf = (program: { readonly pid: number }): number =>
  Number(readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, 'utf8').trim().split(' ')[0]);

const identities = enrolAll();
const children: ChildProcess[] = [];
for (let index = 0; index < PROCESSES; index++) {
  const file = join(folder, `agents-${index}.json`);
  writeFileSync(file, JSON.stringify(identities.filter((_one, at) => at % PROCESSES === index)));
  const child = fork(new URL('gateway-agents.ts', import.meta.url), [url, file], { stdio: 'inherit' });
  child.send({ authority: authority.certificate });
  await once(child, 'message');
  children.push(child);
}

/** All agents ask until they have an answer. @returns when each had it, and how many tries failed */
async function allAsk(): Promise<{ readonly answeredAt: number[]; readonly failed: number }> {
  const answers = await Promise.all(
    children.map(async (child) => {
      child.send('ask');
      return ((await once(child, 'message')) as [{ answeredAt: number[]; failed: number }])[0];
    }),
  );
  return {
    answeredAt: answers.flatMap(({ answeredAt }) => answeredAt).sort((a, b) => a - b),
    failed: answers.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** Seconds after `from` by which a tenth, half, nine tenths and all had their answer. */
const spread = (answeredAt: readonly number[], from: number): readonly number[] =>
  [0.1, 0.5, 0.9, 1].map((part) => Math.round((answeredAt[Math.ceil(part * agents) - 1]! - from) / 100) / 10);

const tenth = (value: number): number => Math.round(value * 10) / 10;

let gateway = await startGateway();
try {
  let pid = pidOf(gateway);
  const alone = { rss_mb: residentMegabytes(pid, 'VmRSS') };
  const before = processorSeconds(pid);
  const began = Date.now();
  const first = await allAsk();
  const atOnce = {
    seconds_until_answered: spread(first.answeredAt, began),
    failed_tries: first.failed,
    processor_seconds: tenth(processorSeconds(pid) - before),
    most_mb: residentMegabytes(pid, 'VmHWM'),
  };
  await delay(10_000);
  const rested = processorSeconds(pid);
  await delay(idleSeconds * 1000);
  const idle = {
    percent_of_a_core: tenth(((processorSeconds(pid) - rested) / idleSeconds) * 100),
    rss_mb: residentMegabytes(pid, 'VmRSS'),
  };
  process.kill(pid, 'SIGKILL');
  await gateway.stop();
  const again = allAsk();
  // A host restarts it after moments, or after a minute.
  await delay(10_000);
  gateway = await startGateway();
  pid = pidOf(gateway);
  const back = Date.now();
  const second = await again;
  console.log(
    JSON.stringify(
      {
        ...{ agents, load: tenth(loadavg()[0]!) },
        ...{ alone, at_once: atOnce, idle },
        after_a_restart: {
          seconds_until_answered: spread(second.answeredAt, back),
          failed_tries: second.failed,
          processor_seconds: tenth(processorSeconds(pid)),
          most_mb: residentMegabytes(pid, 'VmHWM'),
        },
      },
      null,
      1,
    ),
  );
} finally {
  for (const child of children) child.kill();
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
}
