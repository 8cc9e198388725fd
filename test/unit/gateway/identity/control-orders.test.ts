import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type ControlTarget, verifyControl } from '../../../../src/gateway/identity/control-statement.ts';
import { signStatement } from '../../../../src/gateway/identity/proof.ts';
import { SigningKeys } from '../../../../src/gateway/identity/signing-keys.ts';
import { verifyOrder } from '../../../../src/gateway/identity/verify-order.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-control-'));
afterAll(() => rmSync(folder, { recursive: true }));

const keys = new SigningKeys(join(folder, 'usual'));
const now = new Date('2026-01-01T12:00:00Z');
const notAfter = new Date('2026-01-01T12:15:00Z');
const order = { reason: 'wrong release', by: 'nina' };
const cancel = { verb: 'cancel', site: 'dc1', node: '12', run: '81', task: 'db', generation: 2 } as const;
const drain = { verb: 'drain', site: 'dc1', node: '12', instance: 'p1' } as const;
const judged = (proof: string, wanted: ControlTarget, at = now, pinned = keys.publicKeys()) => {
  const verdict = verifyControl(proof, wanted, pinned, at);
  return verdict.ok ? verdict.order : verdict.rejection;
};

describe.each([
  ['to cancel a task', cancel],
  ['to drain an agent', drain],
])('an order %s', (_what, target) => {
  const proof = keys.signControl({ target, order, notAfter });

  it('is accepted by its node until it expires, and names who gave it', () => {
    expect(judged(proof, target)).toEqual(order);
    expect(judged(proof, target, notAfter)).toEqual(order);
    expect(judged(proof, target, new Date(notAfter.getTime() + 1))).toBe('expired');
  });

  it('is invalid for any other purpose', () => {
    const other = target.verb === 'cancel' ? drain : cancel;
    expect(judged(proof, { ...target, node: '13' })).toBe('other-node');
    expect(judged(proof, { ...target, site: 'dc2' })).toBe('other-node');
    expect(judged(proof, other)).toBe('other-task');
    const changes =
      target.verb === 'cancel'
        ? [
            { ...target, run: '82' },
            { ...target, task: 'net' },
            { ...target, generation: 1 },
          ]
        : [{ ...target, instance: 'p2' }];
    for (const changed of changes) expect(judged(proof, changed)).toBe('other-task');
  });

  it('must be readable, and signed by a key this node pins', () => {
    for (const text of ['', '.', 'a.b', `${proof}.x`, 'e30.e30', 'x'.repeat(30_000)])
      expect(judged(text, target)).toBe('malformed');
    expect(judged(proof, target, now, [])).toBe('unknown-key');
    const { privateKey } = generateKeyPairSync('ed25519');
    const key = keys.publicKeys()[0]!.id;
    const statement = { v: 1, key, ...target, ...order, not_after: notAfter.toISOString() };
    expect(judged(signStatement('sitewright-control/1', statement, privateKey), target)).toBe('bad-signature');
    const bytes = Buffer.from(proof);
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes);
      changed[at] = bytes[at] === 65 ? 66 : 65;
      expect(judged(changed.toString(), target), `byte ${at}`).not.toEqual(order);
    }
  });

  it('is not an order for a task, and one signed for another purpose is rejected', () => {
    const wanted = { ...cancel, plan: 'p', type: 'shell', mode: 'apply' } as const;
    const execution = { ...wanted, parameters: {} };
    const verdict = verifyOrder({ execution, proof }, wanted, keys.publicKeys(), now);
    expect(verdict).toMatchObject({ ok: false, rejection: 'malformed' });
    const ring = JSON.parse(readFileSync(join(folder, 'usual', 'order-keys.json'), 'utf8')) as Record<string, string>;
    const statement = { v: 1, key: ring.current!, ...target, ...order, not_after: notAfter.toISOString() };
    const own = createPrivateKey(ring.private_key!);
    expect(judged(signStatement('sitewright-control/1', statement, own), target)).toEqual(order);
    expect(judged(signStatement('sitewright-order/1', statement, own), target)).toBe('bad-signature');
  });
});
