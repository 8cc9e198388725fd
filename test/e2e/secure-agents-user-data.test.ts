import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MachineStatus } from '@sitewright/maas';
import { temporal } from '@temporalio/proto';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EnrolmentTicket } from '../../src/agent/onboarding/enrolment-ticket.ts';
import { enrolNode, GatewayClient, issueTicket } from '../../src/gateway/index.ts';
import { freePort } from '../../src/platform/free-port.ts';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { type RunningGateway, startGateway } from '../../worker/gateway.ts';
import { endsIdentities, nodeUserData } from '../../worker/parts/node-user-data.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-user-data-'));
const OWN = '#!/bin/sh\necho "the operator\'s own, ü"\n';

let rig: TemporalRig;
let site: LivingSite;
let gateway: RunningGateway;
let settings: Settings;

beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
  const loaded = loadSettings({
    cwd: folder,
    env: {
      SITEWRIGHT_STORE_URL: `sqlite:${join(folder, 'unused.db')}`,
      SITEWRIGHT_GATEWAY_HOST: '127.0.0.1',
      SITEWRIGHT_GATEWAY_PORT: String(await freePort()),
      SITEWRIGHT_GATEWAY_DATA_DIR: join(folder, 'gateway'),
      SITEWRIGHT_GATEWAY_AGENT_PACKAGE: 'https://files.example/sitewright.tgz',
    },
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  settings = loaded.settings;
  const machines = exampleHosts.map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' }));
  site = await livingSite(rig, {
    seed: { machines },
    // One deployment fails: its node gets another user data with the next run, and its first token is still unused.
    auto: { fail_times: { deploy: { stl1r01s07: 1 } } },
    userData: (store) => nodeUserData(settings, store, OWN),
    endIdentity: endsIdentities,
  });
  await site.commit(await exampleDocuments());
  gateway = await startGateway(
    { ...settings, store: { ...settings.store, url: `sqlite:${site.storeFile}` } },
    createLogger({ level: 'silent', format: 'json' }, 'gateway'),
  );
});
afterAll(async () => {
  await gateway?.stop();
  await site?.close();
  await rig?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function deploy(kind = 'deploy_site', more: object = {}): Promise<string> {
  const workflowId = rig.workflowId(kind);
  const handle = await rig.client.workflow.start(kind, {
    taskQueue: site.worker.taskQueue,
    workflowId,
    args: [{ site: site.name, started_by: 'nina', ...more }],
  });
  await handle.result().catch(() => undefined);
  return workflowId;
}

interface Given {
  readonly own: string;
  readonly ticket: EnrolmentTicket;
  readonly whole: string;
}

/** The user data of each machine in MAAS, in the order of the requests. */
async function given(): Promise<Given[]> {
  const found: Given[] = [];
  for (const { body, method } of await site.requests()) {
    const text = new URLSearchParams(body).get('user_data');
    if (method !== 'POST' || text === null) continue;
    const whole = Buffer.from(text, 'base64').toString('utf8');
    const boundary = /^Content-Type: multipart\/mixed; boundary="([^"]+)"/.exec(whole)?.[1];
    const [own = '', config = ''] = whole
      .split(`--${boundary}`)
      .slice(1, -1)
      .map((part) => Buffer.from(part.split('\n\n').slice(1).join(''), 'base64').toString('utf8'));
    const { write_files } = load(config) as { write_files: { path: string; content: string }[] };
    const file = write_files.find(({ path }) => path === '/etc/sitewright/ticket.json')!;
    found.push({ own, ticket: JSON.parse(file.content) as EnrolmentTicket, whole });
  }
  return found;
}

it('each deployed node gets its own single-use ticket in its user data, which is in no history', async () => {
  await deploy();
  await deploy();
  const all = await given();
  // Six nodes, and the one that had failed once more.
  expect(all.length).toBe(exampleHosts.length + 1);
  expect(all.every(({ own }) => own === OWN)).toBe(true);
  const tokens = new Set(all.map(({ ticket }) => ticket.token));
  expect(tokens.size).toBe(all.length);

  const enrolled: string[] = [];
  for (const [number, { ticket }] of all.entries()) {
    const own = join(folder, `node-${number}`);
    enrolled.push(
      await enrolNode(own, ticket).then(
        ({ node }) => node,
        (error: Error) => error.message,
      ),
    );
    // A thief who read it comes too late.
    await expect(enrolNode(join(folder, `thief-${number}`), ticket)).rejects.toThrow(/was used before|was revoked/);
  }
  expect(new Set(enrolled.filter((name) => exampleHosts.includes(name)))).toEqual(new Set(exampleHosts));
  const alarms = await site.store.audit.list({ action: 'agent.alarm', limit: 100 });
  expect(alarms.items.map(({ details }) => (details as { kind: string }).kind)).toContain('token-used-twice');

  const secrets = all.flatMap(({ ticket, whole }) => [
    ticket.token,
    ticket.authority.slice(40, 100),
    whole.slice(0, 200),
  ]);
  let read = 0;
  for await (const { workflowId, runId } of rig.client.workflow.list()) {
    const history = await rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
    const bytes = Buffer.from(temporal.api.history.v1.History.encode(history).finish()).toString('latin1');
    read += 1;
    for (const secret of secrets) expect(bytes.includes(secret)).toBe(false);
  }
  expect(read).toBeGreaterThan(1);
});

it('a redeployed node loses its identity as soon as its machine is released, long before it enrols again', async () => {
  const [node] = exampleHosts as unknown as [string];
  const { nodeIdentities } = site.store;
  const valid = async () =>
    (await nodeIdentities.listCertificates(site.name)).filter(({ revokedAt }) => revokedAt === null);
  const office = {
    dataDir: settings.gateway.data_dir,
    gatewayUrl: gateway.url,
    identities: nodeIdentities,
    tokenHours: 1,
  };
  const folderOf = (name: string) => join(folder, name);
  const before = await enrolNode(folderOf('before'), await issueTicket(office, site.name, node));
  const unused = await issueTicket(office, site.name, node);
  const others = (await valid()).filter((one) => one.node !== node);
  expect(others.length).toBeGreaterThan(0);

  await deploy('redeploy_nodes', { nodes: [node] });
  expect(await valid()).toEqual(others);
  const [newest] = await nodeIdentities.listCertificates(site.name, node);
  expect(newest).toMatchObject({ reason: 'its machine was released' });
  const old = new GatewayClient(folderOf('before'), before);
  const key = { run: '1', task: 't', node, generation: 1, plan: 'p', type: 'shell', mode: 'apply' } as const;
  await expect(old.fetch(key)).rejects.toThrow('has been revoked');
  await old.close();
  await expect(enrolNode(folderOf('late'), unused)).rejects.toThrow('was revoked');
  const trail = await site.store.audit.list({ action: 'identity.revoke', target: `node/${site.name}/${node}` });
  expect(trail.items.map(({ actor, reason }) => [actor, reason])).toEqual([['sitewright', 'its machine was released']]);
  // The new installation is that node.
  const { ticket } = (await given()).at(-1)!;
  expect(await enrolNode(folderOf('again'), ticket)).toMatchObject({ node });
});
