import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  carryOutOrder,
  type Execution,
  NodeAgent,
  OrderRefused,
  OrderWithdrawn,
  prepareTask,
  RunHeld,
} from '../../../src/agent/index.ts';
import { CertificateAuthority } from '../../../src/gateway/identity/certificate-authority.ts';
import { SigningKeys } from '../../../src/gateway/identity/signing-keys.ts';
import {
  enrolNode,
  type GatewayClient,
  GatewayConnection,
  GatewayRefused,
  readCredentials,
} from '../../../src/gateway/index.ts';
import { sourceFilesBelow } from '../../../src/gateway/source-files.ts';
import { AgentRig, contentsBelow } from '../../rig/agent.ts';
import { swappedForLink } from '../../rig/swapped-folder.ts';
import { GatewayRig } from './gateway-rig.ts';

let rig: GatewayRig;
beforeAll(async () => {
  rig = await new GatewayRig().start();
});
beforeEach(() => rig.begin());
afterAll(() => rig.tidy());

const shell = (more: Partial<Execution> = {}): Execution => ({
  run: rig.run,
  task: 'netconfig',
  node: 'n1',
  generation: 1,
  type: 'shell',
  parameters: { cmd: 'true' },
  ...more,
});
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof GatewayRefused ? error.code : `other: ${String(error)}`),
  );

describe('enrolment', () => {
  it('gives a node its identity once, and its key never leaves it', async () => {
    const ticket = await rig.ticket('dc1', 'n1');
    const folder = rig.nodeFolder();
    const credentials = await enrolNode(folder, ticket);
    expect(credentials).toMatchObject({
      site: 'dc1',
      node: 'n1',
      queues: { tasks: 'node.dc1.n1', control: 'node.dc1.n1.ctl' },
      temporal: { address: 'temporal.example:7233', namespace: 'default', prefix: 'west' },
    });
    expect(readCredentials(folder)).toEqual(credentials);
    expect(statSync(join(folder, 'credentials.json')).mode & 0o777).toBe(0o600);
    const dump = readFileSync(rig.path('store.db')).toString('latin1') + rig.logLines.join('');
    expect(dump).not.toContain(ticket.token);
    expect(dump).not.toContain(credentials.key.split('\n')[1]);
    // The answer was lost on the way: the same node asks again with the same key.
    const lost = rig.nodeFolder();
    mkdirSync(lost, { mode: 0o700, recursive: true });
    writeFileSync(join(lost, 'enrolment-key.pem'), credentials.key, { mode: 0o600 });
    expect(await enrolNode(lost, ticket)).toMatchObject({ node: 'n1' });
    expect(await rig.alarms()).toEqual([]);
    // A thief is late, and is noticed.
    expect(await codeOf(enrolNode(rig.nodeFolder(), ticket))).toBe('token-used');
    expect(await rig.alarms()).toEqual(['dc1/n1 token-used-twice']);
  });

  it('refuses an unknown or expired token', async () => {
    const ticket = await rig.ticket('dc1', 'n1', 5);
    expect(await codeOf(enrolNode(rig.nodeFolder(), { ...ticket, token: 'swt_guess' }))).toBe('token-unknown');
    rig.now = new Date(rig.now.getTime() + 6 * 60_000);
    expect(await codeOf(enrolNode(rig.nodeFolder(), ticket))).toBe('token-expired');
  });

  it('sends no token to a gateway of another authority', async () => {
    const ticket = await rig.ticket('dc1', 'n1');
    const other = new CertificateAuthority(rig.path('other'));
    const wrong = enrolNode(rig.nodeFolder(), { ...ticket, authority: other.certificate });
    expect(await codeOf(wrong)).toMatch(/^other: /);
    expect(await codeOf(enrolNode(rig.nodeFolder(), ticket))).toBe('ok');
  });

  it('revokes the identity that a node had before it was reinstalled', async () => {
    const before = await rig.node('dc1', 'n1');
    const key = rig.plan(shell());
    expect(await codeOf(before.fetch(key))).toBe('ok');
    const folder = rig.nodeFolder();
    const after = rig.client(folder, await enrolNode(folder, await rig.ticket('dc1', 'n1')));
    expect(await codeOf(after.fetch(key))).toBe('ok');
    expect(await codeOf(before.fetch(key))).toBe('revoked');
    expect(await codeOf(before.renewWhenDue())).toBe('ok');
    expect(await rig.alarms()).toEqual(['dc1/n1 revoked-certificate']);
  });

  it('renews certificates in time, with a new key, and pins the current keys', async () => {
    const node = await rig.node('dc1', 'n1');
    expect(await node.renewWhenDue()).toBe(false);
    const { key, certificate } = node.credentials;
    const day = 24 * 3600_000;
    rig.nodesAheadMs = 11 * day;
    const id = rig.orderKeys.rotate();
    expect(await node.renewWhenDue()).toBe(true);
    expect(node.credentials.key).not.toBe(key);
    expect(node.credentials.certificate).not.toBe(certificate);
    expect(node.credentials.order_keys[0]?.id).toBe(id);
    expect(await codeOf(node.fetch(rig.plan(shell())))).toBe('ok');
    // Offline for too long: only a new token helps.
    rig.now = new Date(rig.now.getTime() + 40 * day);
    expect(await codeOf(node.renewWhenDue())).toBe('expired');
  });
});

describe('without a certificate of ours', () => {
  it('nothing but enrolment answers', async () => {
    await rig.node('dc1', 'n1');
    const stranger = new GatewayConnection({ url: rig.url, authority: rig.authority.certificate });
    const other = new CertificateAuthority(rig.path('other'));
    const theirs = other.issueServer(['x']);
    const forger = new GatewayConnection(
      { url: rig.url, authority: rig.authority.certificate },
      { key: theirs.key, certificate: theirs.pem },
    );
    // Signed by our authority, but for a server, and known to no store.
    const ours = rig.authority.issueServer(['x']);
    const server = new GatewayConnection(
      { url: rig.url, authority: rig.authority.certificate },
      { key: ours.key, certificate: ours.pem },
    );
    const paths = ['renew', 'order', 'cancel', 'drain', 'secret', 'source', 'output', 'result', 'alarm'].map(
      (name) => `/v1/${name}`,
    );
    for (const connection of [stranger, forger, server]) {
      for (const path of paths)
        expect(await codeOf(connection.bytes(path, { json: {} })), path).toMatch(/^(no|unknown)-certificate$/);
      expect(await codeOf(connection.bytes('/v1/order-keys'))).toMatch(/^(no|unknown)-certificate$/);
      expect(await codeOf(connection.bytes('/etc/passwd'))).toBe('no-route');
      await connection.close();
    }
  });
});

describe('orders (test 19: a stolen credential of the namespace commands no agent)', () => {
  it('are handed out signed, and only those in the plan of an open run', async () => {
    const node = await rig.node('dc1', 'n1');
    const key = rig.plan(shell());
    const order = await node.fetch(key);
    expect(await node.verify(order, key)).toBeUndefined();
    expect(await codeOf(node.fetch({ ...key, task: 'never' }))).toBe('no-order');
    expect(await codeOf(node.fetch({ ...key, run: 'never' }))).toBe('no-order');
    for (const change of [{ plan: 'p2' }, { type: 'puppet' }, { mode: 'noop' as const }, { debug: true as const }])
      expect(await codeOf(node.fetch({ ...key, ...change }))).toBe('other-task');
    expect(await rig.alarms()).toEqual([
      ...Array<string>(2).fill('dc1/n1 no-order'),
      ...Array<string>(4).fill('dc1/n1 other-task'),
    ]);
    rig.plan(shell(), { closed: 'the run has ended' });
    expect(await codeOf(node.fetch(key))).toBe('run-over');
  });

  it('are not handed out while their run is paused, nor when it ends, also if the journal has them', async () => {
    const node = await rig.node('dc1', 'n1');
    const key = rig.plan(shell());
    const { execution } = await node.fetch(key);
    const ensured: Execution[] = [];
    const agent = {
      execution: () => execution,
      hasStarted: () => false,
      generations: () => [],
      ensure: async (one: Execution) => {
        ensured.push(one);
        return { kind: 'accepted', result: undefined } as const;
      },
      follow: () => expect.unreachable(),
      cancel: () => undefined,
    };
    const never = new AbortController().signal;
    const carriedOut = () => carryOutOrder(key, { agent, orders: node, onProgress() {}, cancel: never, leave: never });
    rig.mayStart = async () => Promise.reject(new RunHeld('the run is paused since noon'));
    await expect(carriedOut()).rejects.toThrow(new RunHeld('the run is paused since noon'));
    rig.mayStart = async () => Promise.reject(new OrderWithdrawn('the run was stopped'));
    expect(await carriedOut()).toEqual({ kind: 'withdrawn', reason: 'the run was stopped' });
    expect([ensured, await rig.alarms()]).toEqual([[], []]);
  });

  it("are never another node's, no matter who polls its queue", async () => {
    const [own, foreign] = [await rig.node('dc1', 'n1'), await rig.node('dc2', 'n1')];
    const neighbour = await rig.node('dc1', 'n2');
    const key = rig.plan(shell());
    expect(await codeOf(neighbour.fetch(key))).toBe('other-node');
    expect(await codeOf(foreign.fetch(key))).toBe('other-node');
    expect(await codeOf(neighbour.secret('x', key))).toBe('other-node');
    expect(await codeOf(neighbour.source('/x', key))).toBe('other-node');
    expect(
      await codeOf(neighbour.ship(key, { kind: 'output', stream: 'stdout', offset: 0, bytes: Buffer.from('x') })),
    ).toBe('other-node');
    expect(rig.shipped).toEqual([]);
    // An order that was stolen from its node is worth nothing elsewhere.
    const order = await own.fetch(key);
    expect(await foreign.verify(order, key)).toContain('the order is for node n1 of site dc1');
    expect(await neighbour.verify(order, { ...key, node: 'n2' })).toContain('the order is for node n1');
    expect(await rig.alarms()).toEqual([
      'dc1/n2 other-node',
      'dc1/n2 other-node',
      'dc2/n1 other-node',
      'dc2/n1 other-node',
    ]);
  });

  it('never change once signed, and later attempts need the end of the previous one', async () => {
    const node = await rig.node('dc1', 'n1');
    const key = rig.plan(shell());
    expect(await codeOf(node.fetch(key))).toBe('ok');
    rig.plan(shell({ parameters: { cmd: 'rm -rf /' } }));
    expect(await codeOf(node.fetch(key))).toBe('other-parameters');
    rig.plan(shell());
    expect(await codeOf(node.fetch({ ...key, generation: 2 }))).toMatch(/^other: .*attempt 0 .* no attempt 2/);
    rig.plan(shell(), { latest: { generation: 1, state: 'success' } });
    expect(await codeOf(node.fetch({ ...key, generation: 2 }))).toBe('generation');
    rig.plan(shell(), { latest: { generation: 1, state: 'failed' } });
    expect(await codeOf(node.fetch({ ...key, generation: 2 }))).toBe('ok');
    expect(await rig.alarms()).toEqual(['dc1/n1 generation', 'dc1/n1 other-parameters']);
  });

  it('of a new key are accepted immediately, and of an unknown key never', async () => {
    const node = await rig.node('dc1', 'n1');
    const key = rig.plan(shell());
    rig.orderKeys.rotate();
    expect(await node.verify(await node.fetch(key), key)).toBeUndefined();
    const stranger = new SigningKeys(rig.path('stranger'));
    const forged = stranger.sign({ site: 'dc1', plan: 'p1', execution: shell(), notAfter: new Date('2999-01-01') });
    expect(await node.verify(forged, key)).toContain('unknown key');
    expect(await node.verify({ execution: shell() }, key)).toContain('no signed order');
    rig.now = new Date(rig.now.getTime() + 3600_000);
    expect(await node.verify(await node.fetch(key), key)).toBeUndefined();
    const old = await node.fetch(key);
    rig.now = new Date(rig.now.getTime() + 3600_000);
    expect(await node.verify(old, key)).toContain('the order was valid until');
    expect(await rig.alarms()).toEqual(['dc1/n1 expired', 'dc1/n1 no-order', 'dc1/n1 unknown-key']);
  });
});

describe('secrets and sources', () => {
  const upload = () =>
    shell({
      type: 'upload_file',
      parameters: { path: '/srv/x', data: { secret: 'db/password' } },
      secrets: [{ name: 'token', ref: 'api-token', as: 'file' }],
    });

  it('are given to the task that names them, while its run is open', async () => {
    mkdirSync(rig.path('secrets/db'));
    writeFileSync(rig.path('secrets/db/password'), 'CANARY-1\n', { mode: 0o600 });
    writeFileSync(rig.path('secrets/ca-key'), 'CANARY-2', { mode: 0o600 });
    const node = await rig.node('dc1', 'n1');
    const key = rig.plan(upload());
    expect(await node.secret('db/password', key)).toBe('CANARY-1');
    expect(await codeOf(node.secret('ca-key', key))).toBe('not-named');
    expect(await codeOf(node.secret('../gateway/authority.pem', key))).toBe('not-named');
    expect(await codeOf(node.secret('api-token', key))).toBe('no-secret');
    rig.plan(upload(), { closed: 'the run has ended' });
    expect(await codeOf(node.secret('db/password', key))).toBe('run-over');
    expect(await rig.alarms()).toEqual(['dc1/n1 not-named', 'dc1/n1 not-named']);
    expect(rig.logLines.join('')).not.toContain('CANARY');
  });

  it('are read from the folders for sources only', async () => {
    const sources = rig.path('sources');
    mkdirSync(join(sources, 'folder'), { recursive: true });
    writeFileSync(join(sources, 'a'), Buffer.from([0, 255, 13, 10]));
    writeFileSync(rig.path('private'), 'x');
    symlinkSync(rig.path('private'), join(sources, 'out'));
    const paths = ['a', 'missing', 'folder', 'out', '../private'].map((name) => `${sources}/${name}`);
    const files = paths.map((src, at) => ({ src, dst: `/srv/${at}` }));
    const node = await rig.node('dc1', 'n1');
    const [a, missing, folder, out, up] = paths as [string, string, string, string, string];
    const key = rig.plan(shell({ type: 'copy_files', parameters: { files: files.slice(0, 4) } }));
    expect(Buffer.from(await node.source(a, key))).toEqual(Buffer.from([0, 255, 13, 10]));
    const fileCode = (path: string) => node.source(path, key).catch((error: { code: string }) => error.code);
    expect(await fileCode(missing)).toBe('ENOENT');
    expect(await fileCode(folder)).toBe('EISDIR');
    expect(await fileCode(out)).toBe('EACCES');
    expect(await fileCode(up)).toBe('not-named');
    expect(await fileCode('/etc/passwd')).toBe('not-named');
  });
});

it('no source is read outside of its folder while a folder is swapped for a link', async () => {
  const sources = rig.path('swapped-sources');
  mkdirSync(rig.path('private-folder'));
  writeFileSync(join(rig.path('private-folder'), 'stray'), 'private');
  const swapping = swappedForLink(join(sources, 'sub'), rig.path('private-folder'));
  const files = sourceFilesBelow([sources]);
  const said = new Map<string, number>();
  try {
    for (let round = 0; round < 20_000; round++) {
      const read = await files.read(join(sources, 'sub/stray')).then(
        (content) => `read ${Buffer.from(content).toString()}`,
        ({ code }: { code: string }) => code,
      );
      said.set(read, (said.get(read) ?? 0) + 1);
    }
  } finally {
    await swapping.stop();
  }
  expect([...said.keys()]).not.toContain('read private');
  expect([...said.keys()]).toEqual(expect.arrayContaining(['read ', 'EACCES']));
});

describe('malformed requests', () => {
  it.each([
    ['/v1/order', { json: null }],
    ['/v1/order', { json: { run: 1 } }],
    ['/v1/order', { json: [] }],
    ['/v1/secret', { json: { run: 'r', task: 't', node: 'n1', generation: 0, ref: 'x' } }],
    ['/v1/output?run=r', { bytes: Buffer.from('x') }],
    ['/v1/output?run=r&task=t&node=n1&generation=1&stream=stdout&offset=0', { json: {} }],
    ['/v1/order', { bytes: Buffer.from('{}') }],
    ['/v1/alarm', { json: { kind: 'A B', message: 'x' } }],
    ['/v1/enrol', { json: { token: 'x'.repeat(2000), request: '' } }],
    ['/v1/order', { json: 'x'.repeat(600_000) }],
  ] as const)('%s is refused, not met with a crash', async (path, body) => {
    const node = await rig.node('dc1', 'n1');
    const { gateway: url, authority, key, certificate } = node.credentials;
    const connection = new GatewayConnection({ url, authority }, { key, certificate });
    expect(await codeOf(connection.bytes(path, body))).toBe('malformed');
    await connection.close();
  });

  it('an outage is distinguished from a refusal', async () => {
    const lost = await new GatewayRig().start();
    const node = await lost.node('dc1', 'n1');
    const key = lost.plan(shell());
    await lost.store.close();
    const error: unknown = await node.fetch(key).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(OrderRefused);
    await lost.tidy();
  });
});

describe('an agent with a gateway', () => {
  let agents: AgentRig;
  beforeEach(() => {
    agents = new AgentRig();
  });
  afterEach(() => agents.tidy());

  const carriedOut = (node: GatewayClient, execution: Execution, key = rig.plan(execution)) => {
    const agent = new NodeAgent({
      ...agents.options({ node: execution.node, pathRoots: [agents.folder] }),
      resolveSecret: (ref, request) => node.secret(ref, request),
      readSource: (path, request) => node.source(path, request),
    });
    const never = new AbortController().signal;
    return carryOutOrder(key, {
      agent,
      orders: node,
      verify: node.verify,
      onProgress: () => {},
      cancel: never,
      leave: never,
    });
  };

  it('runs a task with a secret that is found nowhere afterwards (test 18)', async () => {
    const canary = 'CANARY-7f3a91';
    writeFileSync(rig.path('secrets/pass'), canary, { mode: 0o600 });
    const node = await rig.node('dc1', 'n1');
    const proof = agents.path('proof');
    const execution = shell({
      parameters: {
        cmd: `echo "it is $PASS"; echo "$PASS" >&2; printf %s "$PASS" | sha256sum > ${proof}`,
        retries: 0,
      },
      secrets: [{ name: 'PASS', ref: 'pass', as: 'environment' }],
    });
    const end = await carriedOut(node, execution);
    expect(end).toMatchObject({ kind: 'ended', result: { outcome: 'success' } });
    const { createHash } = await import('node:crypto');
    expect(readFileSync(proof, 'utf8')).toContain(createHash('sha256').update(canary).digest('hex'));
    expect(rig.shipped.map(({ chunk }) => chunk.kind)).toContain('ended');
    const pieces = rig.shipped.flatMap(({ chunk }) =>
      chunk.kind === 'output' ? [Buffer.from(chunk.bytes).toString()] : [],
    );
    expect(pieces.join('')).toContain('it is [secret]');
    const seen = [
      JSON.stringify(end),
      JSON.stringify(rig.shipped),
      pieces.join(''),
      rig.logLines.join(''),
      JSON.stringify((await rig.store.audit.list()).items),
    ];
    for (const [path, content] of [...contentsBelow(agents.folder), ...contentsBelow(rig.folder)])
      if (path !== rig.path('secrets/pass')) seen.push(content.toString('latin1'));
    for (const text of seen) expect(text).not.toContain(canary);
  });

  it('does not repeat work of the run that this one continues, also if the gateway does not know it', async () => {
    const node = await rig.node('dc1', 'n1');
    const counts = agents.path('counts');
    const first = shell({ parameters: { cmd: `echo ran >> ${counts}`, retries: 0 } });
    expect(await carriedOut(node, first)).toMatchObject({ kind: 'ended', result: { outcome: 'success' } });
    const continued = { ...first, run: `${rig.run}-next`, earlier: [rig.run] };
    const key = rig.plan(continued);
    expect(await node.verify(await node.fetch(key), key)).toBeUndefined();
    expect(await carriedOut(node, continued, key)).toMatchObject({
      kind: 'ended',
      result: { outcome: 'success' },
      before: { run: rig.run, generation: 1 },
    });
    expect(readFileSync(counts, 'utf8')).toBe('ran\n');
    // One that does not continue it does its own work.
    expect(await carriedOut(node, { ...first, run: `${rig.run}-other` })).not.toHaveProperty('before');
    expect(readFileSync(counts, 'utf8')).toBe('ran\nran\n');
  });

  it('refuses anything that someone else put onto its queue, and reports it', async () => {
    const node = await rig.node('dc1', 'n1');
    const execution = shell({ parameters: { cmd: `touch ${agents.path('done')}` } });
    const key = rig.plan(execution);
    for (const change of [{ task: 'mine' }, { plan: 'mine' }, { generation: 3 }, { type: 'puppet' }]) {
      const end = await carriedOut(node, execution, { ...key, ...change });
      expect(end.kind).toBe('refused');
    }
    expect(contentsBelow(agents.folder).has(agents.path('done'))).toBe(false);
    expect(await rig.alarms()).toEqual(
      ['generation', 'no-order', 'other-task', 'other-task'].map((kind) => `dc1/n1 ${kind}`),
    );
    expect(prepareTask(execution).ok).toBe(true);
  });
});

describe('cancelling and draining', () => {
  it('is signed if an operator ordered it for this task, and otherwise refused with an alarm', async () => {
    const node = await rig.node('dc1', 'n1');
    const key = rig.plan(shell());
    expect(await node.cancelled(key)).toBeUndefined();
    expect(await rig.alarms()).toEqual(['dc1/n1 cancel-not-ordered']);
    rig.cancelledRuns.set(key.run, { reason: 'wrong release', by: 'nina' });
    expect(await node.cancelled(key)).toEqual({ reason: 'wrong release', by: 'nina' });
    // Neither another node's, nor one that is in no plan.
    expect(await node.cancelled({ ...key, node: 'n2' })).toBeUndefined();
    expect(await node.cancelled({ ...key, task: 'forged' })).toBeUndefined();
    expect(await rig.alarms()).toEqual(['dc1/n1 cancel-not-ordered', 'dc1/n1 no-order', 'dc1/n1 other-node']);
  });

  it('a drain counts for one process, however often it asks', async () => {
    const node = await rig.node('dc1', 'n1');
    expect(await node.drained('n1', 'first')).toBeUndefined();
    expect(await rig.alarms()).toEqual(['dc1/n1 drain-not-ordered']);
    rig.drains.set('dc1/n1', { id: `order-${rig.run}`, reason: 'an upgrade', by: 'nina' });
    for (let times = 0; times < 2; times += 1)
      expect(await node.drained('n1', 'first')).toEqual({ reason: 'an upgrade', by: 'nina' });
    expect(await node.drained('n1', 'its successor')).toBeUndefined();
  });

  it('a signature for another task is not accepted, and an unavailable gateway is not a refusal', async () => {
    const node = await rig.node('dc1', 'n1');
    const key = rig.plan(shell());
    rig.cancelledRuns.set(key.run, { reason: 'wrong release' });
    rig.nodesAheadMs = 16 * 60_000;
    expect(await node.cancelled(key)).toBeUndefined();
    expect(await rig.alarms()).toEqual(['dc1/n1 expired']);
    rig.nodesAheadMs = 0;
    // It learns a new key on the way.
    rig.orderKeys.rotate();
    expect(await node.cancelled(key)).toEqual({ reason: 'wrong release' });
    const { credentials } = node;
    const away = rig.client(rig.nodeFolder(), { ...credentials, gateway: 'https://127.0.0.1:1' });
    await expect(away.cancelled(key)).rejects.toThrow();
  });
});

describe('content of any size', () => {
  it('of a file is fetched with its order, signed, and does not pass through Temporal', async () => {
    const node = await rig.node('dc1', 'n1');
    const data = 'ü'.repeat(2_000_000);
    const key = rig.plan(shell({ type: 'upload_file', parameters: { path: '/srv/big', data } }));
    const order = await node.fetch(key);
    expect(order.execution.parameters.data).toBe(data);
    expect(await node.verify(order, key)).toBeUndefined();
    const cut = { ...order, execution: { ...order.execution, parameters: { path: '/srv/big', data: data.slice(1) } } };
    expect(await node.verify(cut, key)).toContain('differ from the signed ones');
  });

  it('of a source is fetched as bytes', async () => {
    const node = await rig.node('dc1', 'n1');
    const src = rig.path('sources/big');
    mkdirSync(rig.path('sources'), { recursive: true });
    const bytes = Buffer.alloc(5_000_000, 'sitewright');
    writeFileSync(src, bytes);
    const key = rig.plan(shell({ type: 'copy_files', parameters: { files: [{ src, dst: '/srv/big' }] } }));
    expect(bytes.equals(Buffer.from(await node.source(src, key)))).toBe(true);
  });

  it('of a package folder is its files, and those of no other folder', async () => {
    const node = await rig.node('dc1', 'n1');
    const folder = 'package:metrics==1.0.0/scripts';
    const parameters = { src: folder, digest: 'a'.repeat(64), dst: '/etc/fuel/plugins/metrics-1.0' };
    const key = rig.plan(shell({ type: 'package_files', parameters }));
    rig.packageFiles.set(folder, 'list').set(`${folder}//a.pp`, 'a');
    expect(Buffer.from(await node.source(folder, key)).toString()).toBe('list');
    expect(Buffer.from(await node.source(`${folder}//a.pp`, key)).toString()).toBe('a');
    for (const other of ['package:metrics==1.0.0/scripts2', 'package:metrics==1.0.0/metadata.yaml', '/etc/passwd'])
      await expect(node.source(other, key), other).rejects.toThrow('which the task does not name');
  });
});
