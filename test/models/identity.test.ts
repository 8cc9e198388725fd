import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../packages/yaql/test/mutations.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { explore } from './explore.ts';
import { DEFECTS, enrol, HOLDERS, identityModel, NODES, type Node, renew, revoke, type State } from './identity.ts';

describe('the model of identities', () => {
  it('keeps its properties in every state', () => {
    const { states, broken } = explore(identityModel());
    expect(broken).toBeUndefined();
    expect(states).toBeGreaterThan(10_000);
  });

  it.each(DEFECTS)('breaks a property when a defect is put back: %s', (defect) => {
    expect(explore(identityModel(new Set([defect]))).broken).toMatchObject({
      property: expect.any(String),
      actions: expect.arrayContaining([expect.any(String)]),
    });
  });
});

// The model's findings are worth as much as its likeness to the store. The same calls, as an attacker may make them in any
// order, are made of both.
describe('the store behaves like the model', () => {
  let folder = '';
  let store: Store;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sitewright-model-'));
    store = await openStore(`sqlite:${join(folder, 'store.db')}`);
  });
  afterAll(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  const none = new Set<never>();
  const later = '2030-01-01T00:00:00.000Z';

  it.each(Array.from({ length: 60 }, (_, seed) => seed))('in walk %i', async (seed) => {
    const random = seededRandom(seed + 1);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const site = `walk${seed}`;
    let minutes = 0;
    const now = (): string => new Date(Date.UTC(2026, 0, 1, 0, ++minutes)).toISOString();
    const certificate = (node: Node, place: number, at: string) => ({
      fingerprint: `${site}-${place}`,
      site,
      node,
      issuedAt: at,
      expiresAt: later,
    });
    const token = (node: Node, place: number) => ({ hash: `${site}-t${place}`, site, node, expiresAt: later });
    let state: State = {
      tokens: [],
      certificates: [],
      underWay: [],
      epochs: { n1: 0, n2: 0 },
      alarms: 0,
      comebacks: 0,
    };
    for (let step = 0; step < 30; step++) {
      const node = pick(NODES);
      const action = random();
      if (action < 0.15 || state.tokens.length === 0) {
        await store.nodeIdentities.addToken(token(node, state.tokens.length));
        state = { ...state, tokens: [...state.tokens, { node, usedBy: null, certificate: null, isSpent: false }] };
      } else if (action < 0.6) {
        const place = Math.floor(random() * state.tokens.length);
        const holder = pick(HOLDERS);
        const at = now();
        const said = await store.nodeIdentities.enrol({
          hash: `${site}-t${place}`,
          keyHash: holder,
          at,
          certificate: certificate(node, state.certificates.length, at),
          reason: 'enrolled again',
        });
        const after = enrol(state, place, node, holder, none);
        expect(said).toBe(typeof after === 'string' ? after : undefined);
        if (typeof after !== 'string') state = after;
      } else if (action < 0.85 && state.certificates.length > 0) {
        const by = Math.floor(random() * state.certificates.length);
        const at = now();
        const { node: of } = state.certificates[by]!;
        const said = await store.nodeIdentities.renew(`${site}-${by}`, certificate(of, state.certificates.length, at));
        const after = renew(state, by, none);
        expect(said).toBe(after !== undefined);
        state = after ?? state;
      } else {
        const keepUnused = random() < 0.5;
        const ended = await store.nodeIdentities.revoke({ site, node, at: now(), reason: 'stolen', keepUnused });
        expect(ended).toBe(state.certificates.filter((one) => one.node === node && one.isValid).length);
        state = revoke(state, node, keepUnused, none);
      }
      const valid = (await store.nodeIdentities.listCertificates(site)).filter(({ revokedAt }) => revokedAt === null);
      const expected = state.certificates.flatMap(({ isValid }, place) => (isValid ? [`${site}-${place}`] : []));
      expect(valid.map(({ fingerprint }) => fingerprint).sort()).toEqual(expected.sort());
    }
  });
});
