import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Execution } from '../../../../src/agent/index.ts';
import type { Order } from '../../../../src/agent/order-source.ts';
import type { RunTask } from '../../../../src/core/task-on-node.ts';
import {
  judgeGeneration,
  ORDER_PURPOSE,
  orderStatementSchema,
  type Statement,
} from '../../../../src/gateway/identity/order.ts';
import { readProof as readAny, signedBytes, writeProof } from '../../../../src/gateway/identity/proof.ts';
import { SigningKeys } from '../../../../src/gateway/identity/signing-keys.ts';
import { verifyOrder } from '../../../../src/gateway/identity/verify-order.ts';

const readProof = (proof: string) => readAny(proof, orderStatementSchema);
const orderBytes = (statement: Statement) => signedBytes(ORDER_PURPOSE, statement);

const folder = mkdtempSync(join(tmpdir(), 'sitewright-orders-'));
afterAll(() => rmSync(folder, { recursive: true }));

const execution: Execution = {
  run: '81',
  task: 'netconfig',
  node: '12',
  generation: 1,
  type: 'shell',
  parameters: { cmd: 'hostname', timeout: 5 },
  secrets: [{ name: 'db', ref: 'db/password', as: 'file' }],
};
const wanted: RunTask & { site: string } = {
  site: 'dc1',
  run: '81',
  task: 'netconfig',
  node: '12',
  generation: 1,
  plan: 'p1',
  type: 'shell',
  mode: 'apply',
};
const now = new Date('2026-01-01T12:00:00Z');
const notAfter = new Date('2026-01-01T12:15:00Z');
const keys = new SigningKeys(join(folder, 'usual'));
const order = keys.sign({ site: 'dc1', plan: 'p1', execution, notAfter });
const judged = (given: Order | undefined, more: Partial<typeof wanted> = {}, at = now, pinned = keys.publicKeys()) => {
  const verdict = verifyOrder(given, { ...wanted, ...more }, pinned, at);
  return verdict.ok ? 'ok' : verdict.rejection;
};

describe('a signed order', () => {
  it('is accepted by its node until it expires', () => {
    expect(judged(order)).toBe('ok');
    expect(judged(order, {}, notAfter)).toBe('ok');
    expect(judged(order, {}, new Date(notAfter.getTime() + 1))).toBe('expired');
  });

  it('is the same in any notation of its execution', () => {
    const { parameters, ...frame } = execution;
    const turned = JSON.parse(JSON.stringify({ parameters: { timeout: 5, cmd: parameters.cmd }, ...frame }));
    expect(judged({ ...order, execution: turned })).toBe('ok');
  });

  it.each([
    ['the command', { parameters: { cmd: 'hostname; id', timeout: 5 } }],
    ['a limit', { deadlineSec: 10_000 }],
    ['a secret', { secrets: [{ name: 'db', ref: 'ca/key', as: 'file' as const }] }],
    ['one more secret', { secrets: [...(execution.secrets ?? []), { name: 'x', ref: 'y', as: 'file' as const }] }],
    ['the mode', { mode: 'noop' as const }],
    ['the type', { type: 'puppet' }],
    ['the debug flag', { debug: true }],
    ['the number of a try', { generation: 2 }],
  ])('is worth nothing with %s changed', (_what, change) => {
    expect(judged({ ...order, execution: { ...execution, ...change } })).toBe('other-parameters');
  });

  it.each([
    ['another node', { node: '13' }, 'other-node'],
    ['the node of that name at another site', { site: 'dc2' }, 'other-node'],
    ['another run', { run: '82' }, 'other-task'],
    ['another task', { task: 'db' }, 'other-task'],
    ['the next try', { generation: 2 }, 'other-task'],
    ['another type', { type: 'puppet' }, 'other-task'],
    ['another plan', { plan: 'p2' }, 'other-task'],
    ['the real thing when it is for a noop run', { mode: 'noop' as const }, 'other-task'],
  ])('is rejected when the request is for %s', (_what, change, rejection) => {
    expect(judged(order, change)).toBe(rejection);
  });

  it('must be there, readable, and of a key this node pins', () => {
    expect(judged(undefined)).toBe('no-order');
    expect(judged({ execution })).toBe('no-order');
    for (const proof of ['', 42, '.', 'a.b', `${order.proof}.x`, 'e30.e30', 'x'.repeat(30_000), '\0.\0'])
      expect(judged({ execution, proof })).toBe('malformed');
    expect(judged(order, {}, now, [])).toBe('unknown-key');
    const others = new SigningKeys(join(folder, 'other'));
    expect(judged(order, {}, now, others.publicKeys())).toBe('unknown-key');
  });

  it('is rejected when someone else signed it under the name of a pinned key', () => {
    const { statement } = readProof(order.proof)!;
    const { privateKey } = generateKeyPairSync('ed25519');
    expect(judged({ execution, proof: writeProof(statement, sign(null, orderBytes(statement), privateKey)) })).toBe(
      'bad-signature',
    );
  });

  it('is rejected with any single byte of its proof changed', () => {
    const bytes = Buffer.from(order.proof);
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes);
      changed[at] = bytes[at] === 65 ? 66 : 65;
      expect(judged({ execution, proof: changed.toString() }), `byte ${at}`).not.toBe('ok');
    }
  });

  it('with an extended lifetime is rejected', () => {
    const { statement, signature } = readProof(order.proof)!;
    const longer = { ...statement, not_after: '2099-01-01T00:00:00.000Z' };
    expect(judged({ execution, proof: writeProof(longer, signature) })).toBe('bad-signature');
  });
});

describe('keys of orders', () => {
  it('are created once, readable by their owner only, and shared by all who open the folder', () => {
    const [one, other] = [new SigningKeys(join(folder, 'once')), new SigningKeys(join(folder, 'once'))];
    expect(one.publicKeys()).toEqual(other.publicKeys());
    expect(statSync(join(folder, 'once/order-keys.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'once')).mode & 0o777).toBe(0o700);
  });

  it('rotate while orders of the former key are in flight; a dropped key is invalid', () => {
    const ring = new SigningKeys(join(folder, 'ring'));
    const running = new SigningKeys(join(folder, 'ring'));
    const request = { site: 'dc1', plan: 'p1', execution, notAfter };
    const before = running.sign(request);
    const [former] = ring.publicKeys();
    const id = ring.rotate();
    const after = running.sign(request);
    expect(readProof(after.proof)?.statement.key).toBe(id);
    expect(judged(before, {}, now, running.publicKeys())).toBe('ok');
    expect(judged(after, {}, now, running.publicKeys())).toBe('ok');
    expect(judged(after, {}, now, [former!])).toBe('unknown-key');
    expect(ring.drop(id)).toBe(false);
    expect(ring.drop('never')).toBe(false);
    expect(ring.drop(former!.id)).toBe(true);
    expect(judged(before, {}, now, running.publicKeys())).toBe('unknown-key');
    expect(judged(after, {}, now, running.publicKeys())).toBe('ok');
  });
});

it.each([
  [1, 0, 'open', 'may-run'],
  [1, 1, 'open', 'may-run'],
  [1, 1, 'failed', 'may-run'],
  [1, 1, 'success', 'never'],
  [1, 2, 'open', 'never'],
  [2, 0, 'open', 'not-yet'],
  [3, 0, 'open', 'never'],
  [2, 1, 'open', 'not-yet'],
  [2, 1, 'success', 'never'],
  [2, 1, 'failed', 'may-run'],
  [2, 1, 'retry', 'may-run'],
  [3, 1, 'failed', 'not-yet'],
  [4, 1, 'failed', 'never'],
  [2, 2, 'open', 'may-run'],
  [2, 5, 'open', 'never'],
  [3, 2, 'open', 'not-yet'],
  [3, 2, 'retry', 'may-run'],
] as const)('generation %i while attempt %i is %s: %s', (generation, known, state, kind) => {
  expect(judgeGeneration(generation, { generation: known, state }).kind).toBe(kind);
});
