import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createCodecEndpoint } from '../../src/platform/codec/codec-endpoint.ts';
import { EncryptionCodec } from '../../src/platform/codec/encryption-codec.ts';
import { lookAgain, lookUntil } from '../rig/look-again.ts';
import { failed, scriptedGraph } from '../rig/scripted-graph.ts';
import { failure, group, plainNodes, scriptedSite } from '../rig/scripted-site.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

/* docs/how-to/operating.md: its commands, in their order, against a server. MAAS and agents are driven as the page needs. */
const page = readFileSync(new URL('../../docs/how-to/operating.md', import.meta.url), 'utf8');
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.trim().split('\n'));

const site = scriptedSite({ groups: [group('compute', ['node03', 'node07'])] }, plainNodes('node03', 'node07'));
const graph = scriptedGraph({
  plans: {
    'kernel-update': {
      nodes: [{ id: '4', kind: 'node' }],
      tasks: [
        { id: 'install-kernel', node: '4', type: 'shell' },
        { id: 'update-grub', node: '4', type: 'shell' },
      ],
      edges: [],
    },
  },
});
const queue = 'sitewright';
const encryption = new EncryptionCodec({ current: 'k', keys: new Map([['k', randomBytes(32)]]) });
/** As in an API that requires tokens. */
let needsToken = false;
const tokens: (string | undefined)[] = [];
const codec = createCodecEndpoint(encryption, 'http://localhost', async ({ authorization }) => {
  tokens.push(authorization);
  return !needsToken || authorization === 'Bearer swt_nina'
    ? undefined
    : { status: 401, message: 'no token', hint: 'log in' };
});

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig({ namespace: 'own' });
  await rig.runWorker({ taskQueue: queue, activities: { ...site.activities, ...graph.activities(queue) } });
  await codec.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await codec.close();
  await rig.close();
});

async function run(line: string): Promise<string> {
  const { port } = codec.server.address() as { port: number };
  const env = {
    ...process.env,
    TEMPORAL_ADDRESS: rig.address,
    TEMPORAL_NAMESPACE: rig.namespace,
    SITEWRIGHT_TOKEN: 'swt_nina',
  };
  const command = line
    .replace(/^temporal /, `'${inject('temporalBinary')}' `)
    .replace('127.0.0.1:8081', `127.0.0.1:${port}`);
  for (;;) {
    try {
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { env, timeout: 120_000 });
      return stdout;
    } catch (error) {
      // Of batches, a server takes few requests a second. It has refused this one.
      if (!(error as Error).message.includes('rate limit exceeded')) throw error;
      await lookAgain();
    }
  }
}

/** A server does one batch of a namespace at a time, and has no other way to show that the last one has ended. */
async function perform(line: string): Promise<void> {
  for (;;) {
    try {
      await run(line);
      return;
    } catch (error) {
      if (!String(error).includes('Max concurrent batch operations')) throw error;
      await lookAgain();
    }
  }
}

/** A run of deploy_site whose node07 is being deployed, and whose node03 has failed. */
async function underWay(id: string): Promise<void> {
  site.hold.add('deploy:node07');
  site.results.set('deploy:node03', failure());
  if (id !== 'dc1') {
    const input = { site: id };
    await rig.client.workflow.start('deploy_site', {
      taskQueue: queue,
      workflowId: `deploy_site:${id}`,
      args: [input],
    });
  }
}
const status = (id: string) => rig.client.workflow.getHandle(id).query<{ failed: unknown[]; phase: string }>('status');
const isUnderWay = (id: string) => async () => {
  const call = await site.heldCall('deploy', 'node07');
  await lookUntil(
    () => status(`deploy_site:${id}`),
    ({ failed }) => failed.length === 1,
  );
  return call;
};
let deploying: Awaited<ReturnType<ReturnType<typeof isUnderWay>>> | undefined;

/** The precondition of a command, by its beginning after `temporal `. */
const before: Readonly<Record<string, () => Promise<unknown>>> = {
  'workflow start --type deploy_site': () => underWay('dc1'),
  'workflow start --type update_site': async () => {
    deploying = await isUnderWay('dc1')();
    site.hold.clear();
    site.results.clear();
  },
  'workflow start --type execute_graph': async () => {
    for (const task of ['install-kernel@4', 'update-grub@4']) graph.ends.set(task, [failed(), { outcome: 'success' }]);
  },
  'workflow update execute --workflow-id execute_graph:1:kernel --name retry_task': () =>
    lookUntil(
      () => status('execute_graph:1:kernel'),
      ({ phase }) => phase === 'kernel-update: held',
    ),
  'workflow update execute --workflow-id execute_graph:1:kernel --name skip_task': () =>
    lookUntil(
      () => status('execute_graph:1:kernel'),
      ({ failed }) => failed.length === 1,
    ),
  'workflow cancel': async () => {
    deploying!.finish();
    expect(await rig.client.workflow.getHandle('deploy_site:dc1').result()).toMatchObject({ outcome: 'stopped' });
    await underWay('dc5');
    await isUnderWay('dc5')();
  },
  'workflow terminate': async () => {
    await rig.client.workflow
      .getHandle('deploy_site:dc5')
      .result()
      .catch(() => undefined);
    await underWay('dc6');
    await isUnderWay('dc6')();
  },
  'workflow reset': async () => {
    await underWay('dc7');
    await isUnderWay('dc7')();
  },
  // Not before the activity was reset: the run would end, and leave nothing to reset.
  'workflow signal --query': async () => {
    site.hold.clear();
    const finishAttempts = async (): Promise<never> => {
      for (;;) (await site.heldCall('deploy', 'node07')).finish();
    };
    await Promise.race([rig.client.workflow.getHandle('deploy_site:dc7').result(), finishAttempts()]);
  },
};

it('the cookbook has the commands of all five workflows and of their control', () => {
  for (const type of ['deploy_site', 'update_site', 'redeploy_nodes', 'test_site', 'execute_graph'])
    expect(commands.join('\n')).toContain(`start --type ${type} `);
  expect(Object.keys(before).filter((start) => !commands.some((line) => line.startsWith(`temporal ${start}`)))).toEqual(
    [],
  );
});

it('every command of the cookbook works as documented', { timeout: 300_000 }, async () => {
  for (const line of commands) {
    const start = Object.keys(before).find((one) => line.startsWith(`temporal ${one}`));
    if (start !== undefined) await before[start]!();
    await perform(line);
  }
  const ended = (id: string) => rig.client.workflow.getHandle(id).result();
  expect(await ended('update_site:dc2')).toMatchObject({ outcome: 'success' });
  expect(await ended('redeploy_nodes:dc3')).toMatchObject({ outcome: 'success' });
  expect(await ended('test_site:dc4')).toMatchObject({ outcome: 'success' });
  expect(await ended('execute_graph:1:kernel')).toMatchObject({ outcome: 'success' });
  expect(await ended('deploy_site:dc7')).toMatchObject({ site: 'dc7' });
  const described = await rig.client.workflow.getHandle('deploy_site:dc6').describe();
  expect(described.status.name).toBe('TERMINATED');
});

it('the codec endpoint shows encrypted inputs to callers with a token, and to nobody else', async () => {
  needsToken = true;
  const show = commands.find((line) => line.includes('--codec-endpoint'))!;
  const auth = /`(--codec-auth [^`]+)`/.exec(page)![1]!;
  const { connection, namespace } = rig;
  const sealed = new Client({ connection, namespace, dataConverter: { payloadCodecs: [encryption] } });
  // No worker takes it: only its input matters.
  const options = { taskQueue: rig.workflowId('idle'), workflowId: rig.workflowId('sealed') };
  await sealed.workflow.start('test_site', { ...options, args: [{ site: 'dc-sealed' }] });
  const shown = Buffer.from('{"site":"dc-sealed"}').toString('base64');
  const line = `${show.replace(/--workflow-id \S+/, `--workflow-id ${options.workflowId}`)} --output json`;
  expect(await run(`${line} ${auth}`)).toContain(shown);
  expect(tokens.at(-1)).toBe('Bearer swt_nina');
  // Temporal's command repeats the endpoint's refusal.
  await expect(run(`${line} --command-timeout 10s`)).rejects.toThrow('deadline exceeded');
  expect(tokens.at(-1)).toBeUndefined();
  expect(await run(line.replace(/--codec-endpoint \S+/, ''))).not.toContain(shown);
});
